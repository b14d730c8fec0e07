const MAX_LENGTH = 20_000
const MAX_LINES = 2_000
const MAX_MARKS = 1_000
/** Marks of emphasis, links and code: the parser's work grows with the square of how many are open in a paragraph. */
const marks = /[*_~[\]`<]/g
/** More quotes and lists within each other, on one line, than anybody reads. */
const deepNesting = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){20}/m

/**
 * Whether a text can be parsed as Markdown without freezing the page. Any member can write a description that takes
 * minutes; a text over these limits is shown as it was written.
 */
export const isRenderable = (text: string): boolean =>
  text.length <= MAX_LENGTH &&
  text.split('\n', MAX_LINES + 1).length <= MAX_LINES &&
  (text.match(marks)?.length ?? 0) <= MAX_MARKS &&
  !deepNesting.test(text)

/** A word so long that the browser takes seconds to break it, because it kerns each line again. */
export const hasLongWord = (text: string): boolean => /\S{1000}/.test(text)
