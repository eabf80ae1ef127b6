// Package schedule submits jobs at the times of schedules, and tells people about
// jobs that failed or are late.
//
// A schedule is a row of tr_schedule: a cron expression in a time zone, and the
// job. Each worker calls Run. Every second it looks for schedules whose next slot
// has come; one transaction for each schedule locks its row, passing over those
// that another worker holds, inserts the job, the slot (tr_fired) and the time of
// the next slot. So a slot is fired once, and a scheduler that is killed loses
// none. Only the clock of the database counts.
//
// Of the jobs of a schedule one runs at a time; slots that wait are rows of
// tr_fired, submitted when the job before has ended.
//
// Notices are rows as well: tr_watch holds jobs to look after, tr_notice what is
// to be sent. A worker that sends one holds it for a while, so that it is sent
// once, and by another one when that worker dies.
//
// When a schedule is due says package timetable. Begin reading with Schedule
// (schedule.go), then fire (fire.go).
package schedule
