/**
 * One client's way to one Redis, be it a server or a cluster: URLs, connections, scripts, messages, failures, and what
 * operators ask. Shared by {@link dev.lockstep.redis} and {@link dev.lockstep.redis.redlock}, and knows neither. Free to
 * change: not part of the API.
 */
@NullMarked
package dev.lockstep.redis.internal;

import org.jspecify.annotations.NullMarked;
