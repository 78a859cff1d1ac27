/** Tests of the Redis engine, on real servers. */
package dev.lockstep.redis;
