-- Who submitted what, as the database knows it: '' on SQLite.
alter table tr_job add column submitter text not null default {user};
alter table tr_schedule add column submitter text not null default {user};
-- Whom the notices of a job or a schedule go to; not for everybody who sees the job.
create table tr_target (
    job_id     bigint not null,                 -- 0 for a schedule
    schedule   text   not null,                 -- '' for a job
    on_failure text   not null,
    ping       text   not null,
    primary key (job_id, schedule)
);
-- The key of a part begins with its submitter, so that no other one takes it.
update tr_part set key = {user} || '/' || key;
