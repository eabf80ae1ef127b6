// Package schedule submits jobs at scheduled times, and sends notices about jobs that failed or are late.
//
// A schedule is a row of tr_schedule: a cron expression in a time zone, and the job. Each worker calls Run.
// Every second it looks up schedules whose next slot is due; one transaction per schedule locks its row,
// skipping rows locked by other workers, and inserts the job, the slot (tr_fired) and the time of the next
// slot. So a slot is fired once, and a killed scheduler loses none. Only the clock of the database counts.
//
// One job of a schedule runs at a time; waiting slots are rows of tr_fired, submitted when the previous job
// has ended.
//
// Notices are rows as well: tr_watch holds jobs to watch, tr_notice the notices to send. A worker claims a
// notice for a while, so that it is sent once, and by another worker if the first one dies.
//
// Package timetable computes when a schedule is due. Begin reading with Schedule (schedule.go), then fire
// (fire.go).
package schedule
