import { existsSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** What a page loads of the client at most, in bytes after gzip. */
const limits: Record<string, number> = {
  'packages/client/src/index.ts': 6_000,
  'packages/client/src/live/index.ts': 14_000,
}

let failed = 0
for (const [entry, limit] of Object.entries(limits).filter(([file]) => existsSync(file))) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  console.log(`${entry}: ${size} of ${limit} bytes`)
  if (size > limit) failed++
}
process.exit(failed === 0 ? 0 : 1)
