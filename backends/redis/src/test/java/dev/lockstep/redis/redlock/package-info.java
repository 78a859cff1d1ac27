/** Tests of Redlock's parts, without servers. */
package dev.lockstep.redis.redlock;
