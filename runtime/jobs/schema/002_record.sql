-- What the process of a run says of it, as JSON.
alter table tr_run add column record text not null default '';
