import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** The address of the client, as the trusted proxies in front of the service report it. */
export function addressOf({ headers, socket }: IncomingMessage, trustedHops: number): string {
  if (trustedHops === 0) return socket.remoteAddress ?? ''
  const reported = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
  const path = [...reported, socket.remoteAddress ?? '']
  return path.at(-1 - Math.min(trustedHops, path.length - 1)) as string
}

/** The key by which addresses are counted: an IPv6 address counts as its /64 network, which usually belongs to one client. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const text = isIPv6(plain) && URL.parse(`http://[${plain.split('%')[0]}]`)?.hostname.slice(1, -1)
  if (!text) return plain
  const [front = [], back = []] = text.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return `${groups.slice(0, 4).join(':')}::/64`
}
