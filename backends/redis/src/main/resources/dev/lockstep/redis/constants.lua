local TOKEN_KEPT = 1200000 -- how long an unused lock's token is remembered (ms): longer than clocks are set back
