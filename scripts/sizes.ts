import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'

const HTTP = './packages/client/src/index.ts'
const LIVE = './packages/client/src/live/index.ts'
const REACT = './packages/client/src/react/index.ts'

/** Maximum gzipped sizes of the client in bytes. A live board needs the calls, and the React binding both. */
const limits: [name: string, entries: string[], limit: number][] = [
  ['calls', [HTTP], 6_000],
  ['calls and live board', [HTTP, LIVE], 15_700],
  ['calls, live board and React binding', [HTTP, LIVE, REACT], 16_800],
]

/** Prints the bundled and minified size of each part, and returns those above their limit. */
export function checkSizes(): string[] {
  const sizes = limits.map(([name, entries, limit]) => ({ name, limit, size: sizeOf(entries) }))
  for (const { name, limit, size } of sizes) console.log(`  (${name}: ${size} of ${limit} bytes)`)
  return sizes.filter(({ size, limit }) => size > limit).map(({ name, limit }) => `${name}: larger than ${limit} bytes`)
}

function sizeOf(entries: string[]): number {
  const options = { bundle: true, minify: true, write: false, format: 'esm', target: 'es2022' } as const
  const contents = entries.map((entry) => `export * from '${entry}'`).join('\n')
  const { outputFiles } = buildSync({ ...options, stdin: { contents, resolveDir: '.' }, external: ['react'] })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}
