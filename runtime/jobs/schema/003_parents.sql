-- The job that submitted a job, so that its parts are found.
alter table tr_job add column parent bigint not null default 0;
update tr_job set parent = coalesce((select cast(j.args ->> 'parent' as bigint) from river_job j where j.id = tr_job.job_id), 0);
create index tr_job_parent on tr_job (parent, job_id) where parent > 0;
create index tr_job_decision on tr_job (job_id) where outcome = 'needs a decision';
