import { existsSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'

/** What a page loads of the client at most, in bytes after gzip. The live part includes the calls that it needs. */
const limits: Record<string, number> = {
  'packages/client/src/index.ts': 6_000,
  'packages/client/src/live/index.ts': 14_000,
}

/** Prints how large each entry is, bundled and minified, and lists those that are too large. */
export function checkSizes(): string[] {
  const sizes = Object.entries(limits)
    .filter(([entry]) => existsSync(entry))
    .map(([entry, limit]) => ({ entry, limit, size: sizeOf(entry) }))
  for (const { entry, limit, size } of sizes) console.log(`  (${entry}: ${size} of ${limit} bytes)`)
  return sizes
    .filter(({ size, limit }) => size > limit)
    .map(({ entry, limit }) => `${entry} is larger than ${limit} bytes`)
}

function sizeOf(entry: string): number {
  const options = { bundle: true, minify: true, write: false, format: 'esm', target: 'es2022' } as const
  const { outputFiles } = buildSync({ ...options, entryPoints: [entry], external: ['react'] })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}
