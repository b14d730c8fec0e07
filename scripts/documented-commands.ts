import { blocksOf } from './documentation.ts'

/** How a documented command is tested. */
export type Covering =
  /** tests/documentation.test.ts runs it and expects this output. */
  | { here: string }
  /** tests/documentation.test.ts starts it, waits for `/health`, and stops it. */
  | { serves: true }
  /** This file runs it, and contains these words. */
  | { by: string; words: string }
  /** No test can run it, for this reason. */
  | { not: string }

/** Matches `code` in the text that is a command. */
const COMMAND =
  /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|curl|git|openssl|docker|kubectl|systemctl|psql|pg_\w+|redis-cli|promtool|haproxy|nginx) \S/

/** The commands of a page: one list per code block, and one per command in the text. */
export function commandsOf(text: string): string[][] {
  const blocks = blocksOf(text).flatMap(({ language, lines }) => {
    if (language === 'console') {
      return [lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))]
    }
    return ['sh', 'bash', 'shell'].includes(language) ? [logicalLines(lines)] : []
  })
  const prose = text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, '')
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' ').trim())
  return [...blocks, ...spans.filter((code) => COMMAND.test(code)).map((code) => [code])]
}

/** Lines as a shell reads them: continuation lines joined, without comments and empty lines. */
function logicalLines(lines: string[]): string[] {
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
}

/** Commands without an entry in the registry, entries without a command, and entries that are wrong. */
export function uncovered(
  pages: Map<string, string>,
  registry: Record<string, Covering>,
  read: (file: string) => string | undefined,
): string[] {
  const named = [...pages].flatMap(([page, text]) =>
    commandsOf(text)
      .flat()
      .map((command) => ({ page, command })),
  )
  const all = new Set(named.map(({ command }) => command))
  return [
    ...named
      .filter(({ command }) => !Object.hasOwn(registry, command))
      .map(({ page, command }) => `${page}: no test runs “${command}”: add it to tests/documented-commands.ts`),
    ...Object.entries(registry).flatMap(([command, covering]) => {
      if (!all.has(command)) return [`“${command}” is no longer in any page`]
      if ('not' in covering) return covering.not.length > 10 ? [] : [`“${command}” is not run, and no reason is given`]
      if (!('by' in covering)) return []
      const text = read(covering.by)
      if (text === undefined) return [`“${command}” is run by ${covering.by}, which does not exist`]
      return text.includes(covering.words) ? [] : [`“${command}”: ${covering.by} does not contain “${covering.words}”`]
    }),
  ]
}
