/** Codes of Node.js for a certificate that no trusted authority has signed. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])

interface CertificateError {
  code?: string
  /** Why the name does not match. */
  reason?: string
}

/** Who presented the certificate, and the settings that decide about it. */
interface Server {
  name: string
  /** The setting with the address. */
  setting: string
  /** What names the file of the authorities. */
  authorities: string
}

/** Why the certificate of a server was rejected and what to do, in a sentence; undefined for every other error. */
export function describeCertificateError(error: unknown, server: Server): string | undefined {
  const { code = '', reason = '' } = (error ?? {}) as CertificateError
  const { name, setting, authorities } = server
  if (code === 'CERT_HAS_EXPIRED') return `The certificate of ${name} in ${setting} has expired. Renew it there.`
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${name} in ${setting} is not valid yet. Correct the clocks, or replace it there.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${name} is for another name (${reason.replace(/\.$/, '')}). Let ${setting} use a name of the certificate.`
  if (UNTRUSTED.has(code))
    return `The certificate of ${name} in ${setting} is not signed by a trusted authority (${code}). Set ${authorities} to the file with its CA.`
  return undefined
}

export const isCertificateError = (error: unknown) =>
  describeCertificateError(error, { name: '', setting: '', authorities: '' }) !== undefined
