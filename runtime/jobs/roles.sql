-- Roles with the least rights for the database of jobs. Run it as the owner of the
-- tables, in their database, once and after each update of transect:
--
--     transect jobs roles | psql postgres://owner@db.example.com/jobs
--
-- Then give each user one of them: grant transect_submitter to alice.
--
--   transect_viewer     lists jobs, schedules and workers, and reads logs and results
--   transect_submitter  also submits jobs, cancels and retries its own, and keeps schedules
--   transect_worker     runs jobs, removes them, reads and settles their writes
--
-- The submitter of a job or a schedule is the user of the session (session_user): give
-- each person a login role of its own. Others see what he submitted, but change nothing
-- of it, and do not see whom its notices go to.
--
-- Who may submit jobs runs scripts on the workers, with the workers' rights; who
-- may read jobs sees their arguments and output.

do $$
declare
	name text;
begin
	foreach name in array array['transect_viewer', 'transect_submitter', 'transect_worker'] loop
		if not exists (select from pg_roles where rolname = name) then
			begin
				execute format('create role %I nologin', name);
			exception when duplicate_object or unique_violation then
				null; -- roles are the server's: another database has made it meanwhile
			end;
		end if;
	end loop;
end $$;

revoke all on all tables in schema public from transect_viewer, transect_submitter, transect_worker;
grant usage on schema public to transect_viewer, transect_submitter, transect_worker;

-- What is to be seen: neither scripts, ledgers nor notices, whose targets are secrets.
grant select on river_job, tr_job, tr_run, tr_log, tr_result, tr_worker, tr_schedule, tr_fired, tr_migration, tr_target
	to transect_viewer, transect_submitter;

grant insert on river_job, tr_job to transect_submitter;
grant usage on sequence river_job_id_seq to transect_submitter;
grant update (kind, state, scheduled_at, finalized_at, max_attempts, metadata) on river_job to transect_submitter; -- not what it runs
grant update (outcome, waiting, message, tries, exit_code, ended_at) on tr_job to transect_submitter;        -- not its epoch
grant select, insert on tr_watch, tr_part to transect_submitter;
grant insert, update, delete on tr_target to transect_submitter;
grant select (hash, at), insert on tr_bundle to transect_submitter;
grant update (at) on tr_bundle to transect_submitter; -- a script is never changed
grant insert, update, delete on tr_schedule, tr_fired to transect_submitter;

grant select, insert, update, delete on river_job, river_leader, river_queue, river_notification,
	tr_job, tr_worker, tr_run, tr_log, tr_fired, tr_key, tr_bundle, tr_result, tr_ledger, tr_part, tr_watch, tr_notice,
	tr_target to transect_worker;
grant usage on sequence river_job_id_seq, river_notification_id_seq to transect_worker;
grant select on tr_schedule, tr_migration, river_migration to transect_worker;
grant update (next_at) on tr_schedule to transect_worker; -- not what it runs

-- Which rows: workers all of them, others as the policies below say. The owner of the
-- tables is not bound by them.
do $$
declare
	name text;
	old record;
begin
	for old in select policyname, tablename from pg_policies
		where schemaname = 'public' and starts_with(policyname, 'transect_') loop
		execute format('drop policy %I on %I', old.policyname, old.tablename);
	end loop;
	foreach name in array array['river_job', 'tr_job', 'tr_schedule', 'tr_fired', 'tr_bundle', 'tr_part', 'tr_watch',
		'tr_target'] loop
		execute format('alter table %I enable row level security', name);
		execute format('create policy transect_work on %I to transect_worker using (true) with check (true)', name);
	end loop;
	foreach name in array array['river_job', 'tr_job', 'tr_schedule', 'tr_fired'] loop
		execute format('create policy transect_see on %I for select to transect_viewer, transect_submitter using (true)',
			name);
	end loop;
end $$;

-- A row of River is new, with the next id; who inserts that of tr_job beside it owns
-- both. Nobody else sees the id before they are committed together.
create policy transect_submit on river_job for insert to transect_submitter
	with check (id = currval('river_job_id_seq'));
create policy transect_submit on tr_job for insert to transect_submitter
	with check (submitter = session_user and parent = 0
		and exists (select from river_job r where r.id = job_id)
		and (schedule = '' or exists (select from tr_schedule s where s.name = schedule and s.submitter = session_user)));
create policy transect_own on tr_job for update to transect_submitter using (submitter = session_user);
create policy transect_own on river_job for update to transect_submitter
	using (exists (select from tr_job t where t.job_id = id and t.submitter = session_user));
create policy transect_own on tr_schedule to transect_submitter using (submitter = session_user);
create policy transect_own on tr_fired to transect_submitter
	using (exists (select from tr_schedule s where s.name = schedule and s.submitter = session_user));
create policy transect_own on tr_watch to transect_submitter
	using (exists (select from tr_job t where t.job_id = tr_watch.job_id and t.submitter = session_user));
create policy transect_own on tr_target to transect_submitter
	using (schedule = '' and exists (select from tr_job t where t.job_id = tr_target.job_id and t.submitter = session_user)
		or job_id = 0 and exists (select from tr_schedule s where s.name = schedule and s.submitter = session_user));
create policy transect_own on tr_part to transect_submitter
	using (starts_with(key, session_user || '/'))
	with check (starts_with(key, session_user || '/')
		and exists (select from tr_job t where t.job_id = tr_part.job_id and t.submitter = session_user));

-- A script is kept under the hash of its content, and is not forgotten before its job
-- is there.
create policy transect_see on tr_bundle for select to transect_submitter using (true);
create policy transect_own on tr_bundle for insert to transect_submitter
	with check (hash = encode(sha256(content), 'hex') and size = length(content));
create policy transect_touch on tr_bundle for update to transect_submitter
	using (true) with check (at > extract(epoch from clock_timestamp()) * 1000 - 60000);

-- What earlier versions kept for everybody to see.
insert into tr_target select id, '', coalesce(args->>'on_failure', ''), coalesce(args->>'ping', '') from river_job
	where args ?| array['on_failure', 'ping'] on conflict do nothing;
update river_job set args = args - 'on_failure' - 'ping' where args ?| array['on_failure', 'ping'];
insert into tr_target select 0, name, coalesce(spec::jsonb->>'on_failure', ''), coalesce(spec::jsonb->>'ping', '')
	from tr_schedule where spec::jsonb ?| array['on_failure', 'ping'] on conflict do nothing;
update tr_schedule set spec = (spec::jsonb - 'on_failure' - 'ping')::text
	where spec::jsonb ?| array['on_failure', 'ping'];
