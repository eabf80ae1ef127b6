package stdlib

import (
	"context"
	"maps"
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/wait"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// outcomeOf returns the outcome of a job as a Lua table.
func outcomeOf(c *module.Call, job EndedJob) *lua.LTable {
	t := c.L.NewTable()
	t.RawSetString("job", lua.LNumber(job.ID))
	t.RawSetString("state", lua.LString(job.State))
	t.RawSetString("ok", lua.LBool(job.OK))
	if job.ExitCode != nil {
		t.RawSetString("exit_code", lua.LNumber(*job.ExitCode))
	}
	if job.Message != "" {
		t.RawSetString("message", lua.LString(job.Message))
	}
	if job.Result != nil {
		v, err := vm.DecodeJSON(job.Result, false)
		c.Must(err)
		t.RawSetString("result", vm.ToLua(c.L, v))
	}
	return t
}

// waitForJobs waits until all jobs have ended, at most for the option timeout.
func waitForJobs(c *module.Call, ids []int64) map[int64]EndedJob {
	q, left := jobQueue(c), slices.Clone(ids)
	all := map[int64]EndedJob{}
	until := time.Time{}
	if limit := c.Seconds("timeout"); limit > 0 {
		until = time.Now().Add(limit)
	}
	for len(left) > 0 {
		for _, job := range nextEnded(c, q, left, until) {
			all[job.ID] = job
		}
		left = slices.DeleteFunc(left, func(id int64) bool { _, ok := all[id]; return ok })
	}
	return all
}

// Interval of polling for ended jobs: short after the last one ended, then increasing.
const (
	pollFirst = 50 * time.Millisecond
	pollLast  = time.Second
)

// nextEnded waits until at least one of the jobs has ended.
func nextEnded(c *module.Call, q *Jobs, ids []int64, until time.Time) (ended []EndedJob) {
	stop := vm.StopRequested(c.L)
	c.Must(c.Blocking(func(ctx context.Context) error {
		for pause := pollFirst; ; pause = min(2*pause, pollLast) {
			var err error
			if ended, err = q.Ended(ctx, ids); err != nil || len(ended) > 0 {
				return err
			}
			if !until.IsZero() {
				left := time.Until(until)
				if left <= 0 {
					return fault.Of(&fault.TimeoutError{}, "%d of the jobs have not ended within the time limit", len(ids))
				}
				pause = min(pause, left)
			}
			stopped, cancel := context.WithCancel(ctx)
			go func() {
				select {
				case <-stop:
					cancel()
				case <-stopped.Done():
				}
			}()
			err = wait.Sleep(stopped, pause)
			cancel()
			if ctx.Err() != nil {
				return fault.Stopped(ctx)
			}
			if err != nil {
				return nil // the run should stop
			}
		}
	}))
	if len(ended) == 0 {
		vm.Checkpoint(c.L)
	}
	return ended
}

// mapJobs submits a job for each item, and waits for all.
func mapJobs(c *module.Call) (any, error) {
	q, next := jobQueue(c), itemsOf(c, "items")
	results, indexes := c.L.NewTable(), map[int64]int{} // by job
	set := func(index int, t *lua.LTable) {
		results.RawGetInt(index).(*lua.LTable).ForEach(t.RawSet)
		results.RawSetInt(index, t)
	}
	for index, more := 1, true; more || len(indexes) > 0; {
		for more && len(indexes) < c.Int("concurrency") {
			item := next()
			if more = item != nil; !more {
				break
			}
			begun := c.L.NewTable()
			begun.RawSetString("item", item[0])
			results.RawSetInt(index, begun)
			if id, failed := submitItem(c, item); failed != nil {
				set(index, failed)
			} else {
				indexes[id] = index
			}
			index++
		}
		if len(indexes) == 0 {
			continue
		}
		for _, job := range nextEnded(c, q, slices.Sorted(maps.Keys(indexes)), time.Time{}) {
			set(indexes[job.ID], outcomeOf(c, job))
			delete(indexes, job.ID)
		}
	}
	return results, nil
}

// submitItem submits the job of an item. failed is the item's outcome when the script's function args raised
// an error.
func submitItem(c *module.Call, item []lua.LValue) (id int64, failed *lua.LTable) {
	given := item[0]
	if f := c.Value("args"); f != lua.LNil {
		values, caught := vm.Try(c.L, f, item...)
		switch {
		case caught != nil && vm.Context(c.L).Err() != nil:
			caught.Reraise(c.L)
		case caught != nil:
			failed = c.L.NewTable()
			failed.RawSetString("state", lua.LString("not submitted"))
			failed.RawSetString("ok", lua.LFalse)
			failed.RawSetString("message", lua.LString(c.L.ToStringMeta(caught.Value).String()))
			return 0, failed
		}
		given = append(values, lua.LNil)[0]
	}
	return submitJob(c, jobArguments(c, given)), nil
}
