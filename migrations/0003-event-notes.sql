-- Why: the note of a dismissed event is a person's words, perhaps about a customer. It gets a column of its own, which an erasure
-- empties; `reason` keeps codes and ids.
-- Locks: the new column is null everywhere, so the table is locked for a moment only. Undo: loses the notes; everything else stays.

-- up
alter table inbox_event add column note text; -- what a person wrote who dismissed the event; null: nothing, or erased

-- down
alter table inbox_event drop column note;
