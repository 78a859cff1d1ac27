/**
 * One client's way to one Redis, a server or a cluster: URLs, connections, scripts, messages, failures, and operators'
 * requests. Shared by {@link dev.lockstep.redis} and {@link dev.lockstep.redis.redlock}, and knows neither. Free to
 * change: not part of the API.
 */
@NullMarked
package dev.lockstep.redis.internal;

import org.jspecify.annotations.NullMarked;
