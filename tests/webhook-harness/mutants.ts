import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newFolder } from '@lockstep/testing/processes'

interface Mutation {
  file: string
  original: string
  mutated: string
}

const FENCE = ' and hook.fence = saved.fence\n      returning'

/** Defects of the sender. A run with any of them must be found guilty. */
export const mutations: Record<string, Mutation> = {
  'saved before the answer': {
    file: 'dispatcher.ts',
    original: 'const result = await this.post(turn, message)',
    mutated: `void this.post(turn, message)
    const result: AttemptResult = { status: 200, error: null, retryAfter: null, durationMs: 1, responseText: null, reason: null }`,
  },
  'every answer accepts': {
    file: 'dispatcher.ts',
    original: 'status !== null && status >= 200 && status < 300',
    mutated: 'status !== null',
  },
  'no fence': { file: 'dispatch-queries.ts', original: FENCE, mutated: '\n      returning' },
  'an event is left out': {
    file: 'dispatcher.ts',
    original: 'const wanted = events.filter(isWanted)',
    mutated: 'const wanted = events.filter(isWanted).filter(({ seq }) => seq % 41 !== 0)',
  },
  'a repeat has another body': {
    file: 'dispatcher.ts',
    original: 'const result = await this.post(turn, message)',
    mutated: `if (webhook.failed_attempts > 0) message.body = message.body.replace('{', '{ ')
    const result = await this.post(turn, message)`,
  },
}

/** Copies the server, with one mutation. Returns its main module. */
export async function mutantMain({ file, original, mutated }: Mutation): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const folder = await newFolder()
  const copied = join(folder, 'packages/server')
  for (const name of ['package.json', 'packages/server', 'packages/contract'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const path = join(copied, 'src/webhooks', file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(original)) throw new Error(`${file} no longer contains: ${original}`)
  writeFileSync(
    path,
    text.replace(original, () => mutated),
  )
  return join(copied, 'src/main.ts')
}
