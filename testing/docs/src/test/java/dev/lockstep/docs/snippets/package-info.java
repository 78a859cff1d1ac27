/** The code that the guide shows: the text between a tag and its end is in the pages, letter by letter. */
@NullMarked
package dev.lockstep.docs.snippets;

import org.jspecify.annotations.NullMarked;
