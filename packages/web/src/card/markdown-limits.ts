const MAX_LENGTH = 20_000
const MAX_LINES = 2_000
const MAX_MARKS = 1_000
/** Delimiters of emphasis, links and code: parsing is quadratic in the number of open delimiters. */
const marks = /[*_~[\]`<]/g
/** Twenty or more nested quotes or lists on one line. */
const deepNesting = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){20}/m

/**
 * Whether Markdown can be parsed without freezing the page. A malicious description could take minutes; text over these limits
 * is shown as plain text.
 */
export const isRenderable = (text: string): boolean =>
  text.length <= MAX_LENGTH &&
  text.split('\n', MAX_LINES + 1).length <= MAX_LINES &&
  (text.match(marks)?.length ?? 0) <= MAX_MARKS &&
  !deepNesting.test(text)

/** A word so long that line breaking takes seconds, because the browser kerns every line again. */
export const hasLongWord = (text: string): boolean => /\S{1000}/.test(text)
