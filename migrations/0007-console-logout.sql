-- Why: logging out of the console ends the session in every replica; a copy of its cookie is of no use from then on.
-- Locks: new table only. Undo: cookies that were logged out work again for the rest of their eight hours.

-- up
create table console_logout (
  session_id text primary key,     -- a random name in the cookie; its signature is not here
  ends_at    timestamptz not null  -- when the cookie ends by itself; then the row may go
);

-- down
drop table console_logout;
