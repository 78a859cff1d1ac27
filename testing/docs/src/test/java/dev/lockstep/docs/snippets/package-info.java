/** The code that the guide shows: what is between a tag and its end stands in the pages, letter by letter. */
@NullMarked
package dev.lockstep.docs.snippets;

import org.jspecify.annotations.NullMarked;
