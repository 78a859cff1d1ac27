/** Logging for the tests of the core. */
package dev.lockstep.logs;
