import type { Random } from '../rig/history.ts'
import { type Handshake, handshakeTo } from './frame-session.ts'
import { CANARY } from './values.ts'

/** Handshakes that are none, or for something else. */
export function oddHandshake(target: string, board_id: string, random: Random): Handshake {
  const good = handshakeTo(target)
  const without = (name: string) => good.headers.filter(([key]) => key !== name)
  const withHeader = (name: string, value: string) => ({ ...good, headers: [...without(name), [name, value] as const] })
  const token = new URL(target, 'http://x').searchParams.get('token') ?? ''
  return random.pick<() => Handshake>([
    () => withHeader('Sec-WebSocket-Version', random.pick(['12', '99', '', 'x', '13, 8'])),
    () => withHeader('Sec-WebSocket-Key', random.pick(['', 'x', CANARY, 'AAAAAAAAAAAAAAAAAAAAAA==x', 'ü'])),
    () => ({ ...good, headers: without(random.pick(['Sec-WebSocket-Key', 'Sec-WebSocket-Version', 'Host'])) }),
    () => ({ ...good, method: random.pick(['POST', 'PUT', 'DELETE', 'HEAD']) }),
    () => withHeader('Sec-WebSocket-Protocol', random.pick(['x', 'a, a', ',', '', `${CANARY}, b`, 'a'.repeat(500)])),
    () =>
      withHeader(
        'Sec-WebSocket-Extensions',
        random.pick([
          'permessage-deflate',
          'permessage-deflate; x=y',
          ';',
          'permessage-deflate; server_max_window_bits=99',
          '"',
          CANARY,
        ]),
      ),
    () => withHeader('Origin', random.pick(['null', 'https://evil.example', '', CANARY])),
    () => ({
      ...good,
      target: target.replace(
        token,
        random.pick(['', CANARY, token.slice(0, -3), '%00', '..', token.replaceAll('.', '%2e')]),
      ),
    }),
    () => ({
      ...good,
      target: target.replace(
        board_id,
        random.pick([
          'x',
          '%00',
          '%zz',
          '..',
          '00000000-0000-4000-8000-000000000000',
          board_id.toUpperCase(),
          `${board_id}/x`,
          CANARY,
        ]),
      ),
    }),
    () => ({
      ...good,
      target: `${target}&token=x&seq=${CANARY}&since=${random.pick(['-1', '1.-1', '9'.repeat(30), '1.1e9', '%00'])}`,
    }),
    () => ({
      ...good,
      target: random.pick([
        '*',
        '//',
        `//evil.example${target}`,
        `/api${target}`,
        target.split('?')[0] as string,
        '/ws/boards/',
        '/ws',
        'http://x/ws',
      ]),
    }),
    () => withHeader('Upgrade', random.pick(['WebSocket', 'websocket, h2c', 'WEBSOCKET'])),
    () => withHeader('X-Long', 'x'.repeat(random.pick([1_000, 20_000]))),
    () => withHeader('Transfer-Encoding', 'chunked'),
    () => withHeader('Content-Length', '5'),
  ])()
}
