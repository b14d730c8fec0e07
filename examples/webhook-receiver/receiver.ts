import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { isRepeated, positionOf, verifyWebhook, WebhookError } from '@lockstep/client/webhooks'

/**
 * Receives the webhooks of any number of boards and appends each event to a file, once and in order. Usage:
 *
 *   WEBHOOK_SECRETS=whsec_…,whsec_… npm start -- [file]
 */
const { WEBHOOK_SECRETS = '', PORT = '3000' } = process.env
const [file = 'events.jsonl'] = process.argv.slice(2)
const MAX_BYTES = 1_000_000

// An event and its position are saved by one write, so neither is ever saved without the other. A service with a database uses one
// transaction instead.
const last = new Map<string, string>()
for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
  if (line === '') continue
  const { position, message } = JSON.parse(line)
  last.set(message.board_id, position)
}

const server = createServer(async (request, response) => {
  if (!(Number(request.headers['content-length']) <= MAX_BYTES)) return response.writeHead(413).end()
  try {
    const message = await verifyWebhook(await text(request), request.headers, WEBHOOK_SECRETS.split(','))
    const position = positionOf(message)
    if (position !== undefined && !isRepeated(message, last.get(message.board_id))) {
      appendFileSync(file, `${JSON.stringify({ position, message })}\n`)
      last.set(message.board_id, position)
    }
    return response.writeHead(204).end()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    // 401: it is not from the service. 500: it could not be saved, and will be sent again.
    return response.writeHead(error instanceof WebhookError ? 401 : 500).end()
  }
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`Listening on port ${PORT}`))
process.once('SIGINT', () => server.close()).once('SIGTERM', () => server.close())
