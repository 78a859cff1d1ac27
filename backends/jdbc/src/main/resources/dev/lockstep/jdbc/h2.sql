-- The tables of Lockstep on H2. ${prefix} is "lockstep_" unless set otherwise.
-- Times are microseconds since 1970 by the clock of the database.

-- Who is alive: a row for each client.
CREATE TABLE IF NOT EXISTS ${prefix}sessions (
  id VARCHAR(64) NOT NULL PRIMARY KEY, -- never used again
  client VARCHAR(512) NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  revocations BIGINT NOT NULL -- how many of its locks were taken away by an operator
);

-- Who holds: a row for each name that was used.
CREATE TABLE IF NOT EXISTS ${prefix}locks (
  name VARCHAR(1800) NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL, -- of the last grant; only rises
  owner VARCHAR(64), -- the claim that holds it exclusively
  session VARCHAR(64), -- the owner's
  thread VARCHAR(255),
  since BIGINT,
  sticky SMALLINT,
  readers INTEGER NOT NULL, -- how many hold it together
  head VARCHAR(64), -- the claim that waits first
  tickets BIGINT NOT NULL -- the last number that was drawn to wait
);

-- Who waits, and who holds together with others.
CREATE TABLE IF NOT EXISTS ${prefix}claims (
  claim VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(1800) NOT NULL,
  ticket BIGINT NOT NULL, -- the order of those who wait
  shared SMALLINT NOT NULL,
  held SMALLINT NOT NULL,
  token BIGINT,
  session VARCHAR(64) NOT NULL,
  thread VARCHAR(255),
  since BIGINT,
  sticky SMALLINT
);

CREATE INDEX IF NOT EXISTS ${index}claims_queue ON ${prefix}claims (name, ticket);
