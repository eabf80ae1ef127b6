-- Roles with the least rights for the database of jobs. Run it as the owner of the
-- tables, in their database, once and after each update of transect:
--
--     transect jobs roles | psql postgres://owner@db.example.com/jobs
--
-- Then give each user one of them: grant transect_submitter to alice.
--
--   transect_viewer     lists jobs, schedules and workers, and reads logs and results
--   transect_submitter  also submits and cancels jobs, tries them again, and keeps schedules
--   transect_worker     runs jobs, removes them, reads and settles their writes
--
-- Who may submit jobs runs scripts on the workers, with the workers' rights; who
-- may read jobs sees their arguments and output.

do $$
declare
	name text;
begin
	foreach name in array array['transect_viewer', 'transect_submitter', 'transect_worker'] loop
		if not exists (select from pg_roles where rolname = name) then
			execute format('create role %I nologin', name);
		end if;
	end loop;
end $$;

revoke all on all tables in schema public from transect_viewer, transect_submitter, transect_worker;
grant usage on schema public to transect_viewer, transect_submitter, transect_worker;

-- What is to be seen: neither scripts, ledgers nor notices, whose targets are secrets.
grant select on river_job, tr_job, tr_run, tr_log, tr_result, tr_worker, tr_schedule, tr_fired, tr_migration
	to transect_viewer, transect_submitter;

grant insert on river_job, tr_job to transect_submitter;
grant usage on sequence river_job_id_seq to transect_submitter;
grant update (kind, state, scheduled_at, finalized_at, max_attempts, metadata) on river_job to transect_submitter; -- not what it runs
grant update (outcome, waiting, message, tries, exit_code, ended_at) on tr_job to transect_submitter;        -- not its epoch
grant select, insert on tr_watch, tr_part to transect_submitter;
grant select, insert on tr_bundle to transect_submitter;
grant update (at) on tr_bundle to transect_submitter; -- a script is never changed
grant insert, update, delete on tr_schedule, tr_fired to transect_submitter;

grant select, insert, update, delete on river_job, river_leader, river_queue, river_notification,
	tr_job, tr_worker, tr_run, tr_log, tr_fired, tr_key, tr_bundle, tr_result, tr_ledger, tr_part, tr_watch, tr_notice to transect_worker;
grant usage on sequence river_job_id_seq, river_notification_id_seq to transect_worker;
grant select on tr_schedule, tr_migration, river_migration to transect_worker;
grant update (next_at) on tr_schedule to transect_worker; -- not what it runs
