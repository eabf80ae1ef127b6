-- What a worker may send is a matter of its policy.
alter table tr_notice drop column command;
