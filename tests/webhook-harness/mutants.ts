import type { ServerMutation } from '@lockstep/testing/mutated-server'

const FENCE = ' and hook.fence = saved.fence\n      returning'

/** Defects of the sender. A run with any of them must be found guilty. */
export const mutations: Record<string, ServerMutation> = {
  'saved before the answer': {
    file: 'webhooks/dispatcher.ts',
    original: 'const result = await this.post(turn, message)',
    mutated: `void this.post(turn, message)
    const result: AttemptResult = { status: 200, error: null, retryAfter: null, durationMs: 1, responseText: null, reason: null }`,
  },
  'every answer accepts': {
    file: 'webhooks/dispatcher.ts',
    original: 'status !== null && status >= 200 && status < 300',
    mutated: 'status !== null',
  },
  'no fence': { file: 'webhooks/dispatch-queries.ts', original: FENCE, mutated: '\n      returning' },
  'an event is left out': {
    file: 'webhooks/dispatcher.ts',
    original: 'const wanted = events.filter(isWanted)',
    mutated: 'const wanted = events.filter(isWanted).filter(({ seq }) => seq % 41 !== 0)',
  },
  'a repeat has another body': {
    file: 'webhooks/dispatcher.ts',
    original: 'const result = await this.post(turn, message)',
    mutated: `if (webhook.failed_attempts > 0) message.body = message.body.replace('{', '{ ')
    const result = await this.post(turn, message)`,
  },
}
