-- The tables of Lockstep on PostgreSQL, format 1. ${prefix} is "lockstep_" unless set otherwise.
-- Times are microseconds since 1970 by the clock of the database.

-- Live sessions: a row for each client.
CREATE TABLE IF NOT EXISTS ${prefix}sessions (
  id VARCHAR(64) NOT NULL PRIMARY KEY, -- never used again
  client VARCHAR(512) NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  revocations BIGINT NOT NULL -- how many of its locks an operator released by force
);

-- Locks and their owners: a row for each name that was used.
CREATE TABLE IF NOT EXISTS ${prefix}locks (
  name VARCHAR(1800) COLLATE "C" NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL, -- of the last grant, only rises
  owner VARCHAR(64), -- the claim that holds it exclusively
  session VARCHAR(64), -- the owner's
  thread VARCHAR(255),
  since BIGINT,
  sticky SMALLINT,
  readers INTEGER NOT NULL, -- how many hold it together, or how many permits of a semaphore are held
  head VARCHAR(64), -- the claim that waits first
  tickets BIGINT NOT NULL, -- the last number that was drawn to wait
  permits INTEGER DEFAULT 0 NOT NULL, -- of a semaphore, how many there are, and 0 for a lock
  waits VARCHAR(1024) -- what the owner waits for
) WITH (fillfactor = 50);

-- Claims that wait, and those that hold together with others.
CREATE TABLE IF NOT EXISTS ${prefix}claims (
  claim VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(1800) COLLATE "C" NOT NULL,
  ticket BIGINT NOT NULL, -- the order of the waiters
  shared SMALLINT NOT NULL,
  held SMALLINT NOT NULL,
  token BIGINT,
  session VARCHAR(64) NOT NULL,
  thread VARCHAR(255),
  since BIGINT,
  sticky SMALLINT,
  permits INTEGER DEFAULT 1 NOT NULL, -- how many it has or asks for
  slots TEXT, -- of a semaphore, which it has: "0-2,5"
  waits VARCHAR(1024) -- what the holder waits for
);

CREATE INDEX IF NOT EXISTS ${index}claims_queue ON ${prefix}claims (name, ticket);

-- The format of these tables: one row. Clients of another format refuse them.
CREATE TABLE IF NOT EXISTS ${prefix}format (
  version INTEGER NOT NULL PRIMARY KEY
);

INSERT INTO ${prefix}format (version) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${prefix}format);
