import { BlockList, isIP, isIPv4 } from 'node:net'

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** Whether a host, as a URL or a driver writes it, is this machine. */
export const isLoopback = (host: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host)

/** Whether a text is a network in CIDR notation, such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? []
  return isIP(address) !== 0 && Number(bits) <= (isIPv4(address) ? 32 : 128)
}

/** A set of networks in CIDR notation. */
export function networkSet(networks: readonly string[]): BlockList {
  const set = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    set.addSubnet(address, Number(bits), familyOf(address))
  }
  return set
}

/** Whether an IP address is in a set of networks. */
export const isInNetworks = (set: BlockList, address: string) =>
  isIP(address) !== 0 && set.check(address, familyOf(address))

/** The IANA special-purpose addresses, and multicast. */
const specialIPv4 = networkSet([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Not in the table: the address of the platform in every virtual machine of Azure.
  '168.63.129.16/32',
])
const globalIPv6 = networkSet(['2000::/3'])
/** Protocol assignments with Teredo, documentation, 6to4, and AS112. */
const specialIPv6 = networkSet(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

/** Whether an IP address belongs to the public internet. IPv6 addresses with a zone, or made from an IPv4 address, do not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !isInNetworks(specialIPv4, address)
  return !address.includes('%') && isInNetworks(globalIPv6, address) && !isInNetworks(specialIPv6, address)
}
