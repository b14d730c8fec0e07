import { join } from 'node:path'
import { newPostgresFolder, runAsPostgres } from './processes.ts'

const NEW_KEY = 'openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'

export interface Certificates {
  /** The certificate of the authority that signed the others, and of one that signed nothing. */
  authority: string
  otherAuthority: string
  /** The key of all servers, which only its owner `postgres` and root can read. */
  key: string
  /** For localhost and 127.0.0.1; the same, but expired; for another name. */
  valid: string
  expired: string
  otherName: string
}

/** Makes the certificates of a test with openssl. All values are paths of files. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await newPostgresFolder()
  const at = (name: string) => join(folder, `${name}.pem`)
  const authority = (name: string) =>
    `${NEW_KEY} -x509 -days 30 -subj /CN=${name} -keyout ${at(`${name}-key`)} -out ${at(name)}`
  const certificate = (name: string, days: number, names: string) =>
    `echo subjectAltName=${names} > ${at('names')}
    openssl x509 -req -in ${at('request')} -CA ${at('authority')} -CAkey ${at('authority-key')} -CAcreateserial \
      -days ${days} -extfile ${at('names')} -out ${at(name)}`
  const names = 'DNS:localhost,IP:127.0.0.1'
  await runAsPostgres(`
    ${authority('authority')}
    ${authority('other-authority')}
    ${NEW_KEY} -subj /CN=server -keyout ${at('key')} -out ${at('request')}
    ${certificate('valid', 30, names)}
    ${certificate('expired', -1, names)}
    ${certificate('other-name', 30, 'DNS:other.example')}
    chmod 755 ${folder}`)
  return {
    authority: at('authority'),
    otherAuthority: at('other-authority'),
    key: at('key'),
    valid: at('valid'),
    expired: at('expired'),
    otherName: at('other-name'),
  }
}
