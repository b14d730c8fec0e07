/** The text of an excerpt without the marks of Markdown: of links and images their names. An excerpt may end within a mark. */
export const plainExcerpt = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*(?:\)|$)/g, '$1')
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+](?: \[[ x]\])?|\d+\.)[ \t]+/gm, '')
    .replace(/\*\*|~~|`+/g, '')
    .trim()
