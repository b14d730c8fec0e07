import { type BlockList, isIP } from 'node:net'
import { isInNetworks, isPublicAddress, networkSet } from '../platform/networks.ts'

export interface OutgoingSettings {
  /** Plain HTTP is allowed. */
  allowsHttp: boolean
  /** Networks (CIDR) that may be reached although they are not public. */
  allowedNetworks: readonly string[]
  /** If not empty, only these host names (exact, or `*.example.org`). */
  allowedHosts: readonly string[]
  timeoutMs: number
}

/** The ports above 1023 on which browsers refuse to speak HTTP, because other protocols could take a request for a command. */
const BAD_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Which URLs and addresses may be called. */
export class OutgoingRules {
  private readonly settings: OutgoingSettings
  private readonly networks: BlockList

  constructor(settings: OutgoingSettings) {
    this.settings = settings
    this.networks = networkSet(settings.allowedNetworks)
  }

  /** Why a URL is refused, without resolving its host name; undefined if it is not. */
  refusalOf(text: string): string | undefined {
    const url = URL.parse(text)
    if (!url) return 'The URL is not valid.'
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.settings.allowsHttp))
      return `The URL must begin with https://${this.settings.allowsHttp ? ' or http://' : ''}.`
    if (url.username !== '' || url.password !== '') return 'The URL must not have a user name or a password.'
    if (url.href.includes('#')) return 'The URL must not have a fragment.'
    const port = portOf(url)
    if ((port < 1024 && port !== 80 && port !== 443) || BAD_PORTS.has(port)) return `Port ${port} is not allowed.`
    const host = hostOf(url)
    if (!this.isAllowedHost(host)) return 'The host is not allowed by the operator.'
    const address = literalAddresses(host)?.find((each) => !this.isAllowedAddress(each))
    return address === undefined ? undefined : 'The address is not public.'
  }

  isAllowedAddress(address: string): boolean {
    return isPublicAddress(address) || isInNetworks(this.networks, address)
  }

  private isAllowedHost(host: string): boolean {
    const { allowedHosts } = this.settings
    return (
      allowedHosts.length === 0 ||
      allowedHosts.some((allowed) => (allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed))
    )
  }
}

export const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** The host without the brackets of IPv6 and the final dot of a full name. `URL` has made other spellings of addresses plain. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

/** The addresses of a host that is not resolved: an address, or a name for this machine (RFC 6761). */
export function literalAddresses(host: string): string[] | undefined {
  if (isIP(host) !== 0) return [host]
  return host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined
}
