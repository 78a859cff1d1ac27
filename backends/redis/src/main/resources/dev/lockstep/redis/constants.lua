-- How long an unused lock's token is remembered (ms), or until the clock has passed the token by as much, if that is later.
local TOKEN_KEPT = 1200000
