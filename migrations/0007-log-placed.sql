-- Why: while an erasure takes free texts out of a lane's log, the database let it change lane, version and time as well. Their place in the
-- log stays as it was written, also then, and so do the marks of a snapshot and of a lane at rest.
-- Locks: lane_log against everything for a moment; no row is read. Undo: as quick.

-- up
drop trigger lane_log_kept on lane_log;
create trigger lane_log_kept before update of change on lane_log execute function refuse_log_change();
create trigger lane_log_placed before update of lane, version, at, at_rest, snapshot on lane_log execute function refuse_change();

-- down
drop trigger lane_log_placed on lane_log;
drop trigger lane_log_kept on lane_log;
create trigger lane_log_kept before update of lane, version, at, change on lane_log execute function refuse_log_change();
