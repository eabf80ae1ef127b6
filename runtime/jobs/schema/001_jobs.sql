-- What users see of a job beside River's row in river_job.
create table tr_job (
    job_id       bigint primary key,
    title        text   not null,               -- script and arguments, for lists
    key          text   not null default '',    -- one at a time of those with the same key
    schedule     text   not null default '',
    bundle       text   not null default '',    -- of tr_bundle
    parent       bigint not null default 0,     -- the job that submitted it
    waiting      text   not null default '',    -- what it waits for while it cannot run
    epoch        bigint not null default 0,     -- raised by each start and each takeover; the fence
    tries        bigint not null default 0,     -- attempts that count against its retries
    exit_code    bigint,                        -- of the last attempt that ended
    outcome      text   not null default '',    -- a final state; '' before its end
    message      text   not null default '',    -- of its last failure
    submitted_at bigint not null default {now},
    started_at   bigint not null default 0,     -- of the newest attempt
    ended_at     bigint not null default 0
);
create index tr_job_schedule on tr_job (schedule, job_id) where schedule <> '';
create index tr_job_key on tr_job (key) where key <> '';
create index tr_job_ended on tr_job (ended_at);
create index tr_job_parent on tr_job (parent, job_id) where parent > 0;
create index tr_job_decision on tr_job (job_id) where outcome = 'needs a decision';

-- Worker processes; the id is River's client ID, new at each start.
create table tr_worker (
    id          text   primary key,
    name        text   not null,
    host        text   not null,
    pid         bigint not null,
    queues      text   not null,                -- separated by commas
    slots       bigint not null,
    version     text   not null default '',
    sandbox     bigint not null default 0,
    stopping    bigint not null default 0,      -- it fetches no more
    started_at  bigint not null,
    lease_until bigint not null,
    dead_at     bigint                          -- its lease ended, or it left
);
create index tr_worker_alive on tr_worker (lease_until) where dead_at is null;

-- Attempts: the starts of the run of a job.
create table tr_run (
    id         {id},
    job_id     bigint not null,
    attempt    bigint not null,                 -- 1, 2 … of this job
    epoch      bigint not null,                 -- of tr_job when it started
    worker_id  text   not null,
    worker     text   not null,                 -- its name
    started_at bigint not null,
    ended_at   bigint,
    exit_code  bigint,
    outcome    text   not null default ''       -- a state of jobs, or 'lost'
);
create index tr_run_job on tr_run (job_id, id);
create index tr_run_open on tr_run (worker_id) where ended_at is null;

-- Output, one row a batch of whole lines.
create table tr_log (
    run_id bigint not null,                     -- of tr_run
    seq    bigint not null,                     -- 1, 2 … without holes
    at     bigint not null,
    stream text   not null,                     -- out, err, or worker
    lines  text   not null,                     -- each ended by a newline
    primary key (run_id, seq)
);

create table tr_schedule (
    name       text   primary key,
    cron       text   not null,
    zone       text   not null,
    spec       text   not null,                 -- the job, as JSON
    catch_up   text   not null,                 -- none, last, all
    overlap    text   not null,                 -- skip, queue, cancel
    late       bigint not null default 0,       -- slots that start later than this are told of; 0 for never
    paused     bigint not null default 0,
    next_at    bigint not null default 0,       -- the next slot; 0 when there is none
    created_at bigint not null default {now},
    updated_at bigint not null default {now}
);
create index tr_schedule_next on tr_schedule (next_at) where paused = 0;

-- Slots, and those that were left out, one row for several missed in a row.
create table tr_fired (
    schedule text   not null,
    due_at   bigint not null,
    at       bigint not null default {now},     -- when its job was submitted, or it was left out
    how      text   not null,                   -- slot, caught up, run, backfill; missed, skipped, replaced
    state    text   not null,                   -- waiting, active, ended, left out
    job_id   bigint,
    outcome  text   not null default '',        -- of its job, once that has ended
    slots    bigint not null default 1,         -- of a missed row: how many
    last_at  bigint not null default 0,         -- and the last of them
    noticed  bigint not null default 0,         -- a notice says that it is late
    primary key (schedule, due_at)
);
create index tr_fired_open on tr_fired (state, schedule) where state in ('waiting', 'active');

-- Who holds a key.
create table tr_key (
    key    text   primary key,
    job_id bigint not null
);

-- Scripts with their modules and manifests, by the hash of their content.
create table tr_bundle (
    hash    text    primary key,
    content {bytes} not null,
    size    bigint  not null,
    at      bigint  not null default {now}
);

create table tr_result (
    job_id bigint  primary key,
    epoch  bigint  not null,
    at     bigint  not null default {now},
    value  {bytes} not null                     -- JSON, at most 1 MiB
);

-- Ledgers of runs; appended only while the epoch is that of tr_job.
create table tr_ledger (
    run   text    not null,
    at    bigint  not null,                     -- offset in the ledger
    epoch bigint  not null,
    bytes {bytes} not null,
    primary key (run, at)
);

-- Jobs that scripts have submitted, by their keys in the script's run.
create table tr_part (
    key    text   primary key,
    job_id bigint not null
);
create index tr_part_job on tr_part (job_id);

-- Jobs of which somebody wants to be told.
create table tr_watch (
    job_id  bigint primary key,
    starts  bigint not null,                    -- 1: their start, too
    late_at bigint not null                     -- when they should have started; 0 for never
);

-- Notices to be sent; a row goes when its notice was sent.
create table tr_notice (
    id      {id},
    about   text   not null,                    -- for the log: job 12, schedule nightly
    target  text   not null,                    -- a command or a URL
    command bigint not null,                    -- 1: the target is a command
    event   text   not null,                    -- of a monitor; '' for a notice of a failure
    body    text   not null,                    -- JSON
    at      bigint not null default {now},
    send_at bigint not null,                    -- not before; put off while somebody sends it
    tries   bigint not null default 0
);
create index tr_notice_next on tr_notice (send_at);
