import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16

interface Key {
  /** The beginning of its hash. Each box starts with it, so that it is opened with the right key. */
  id: Buffer
  bytes: Buffer
}

/**
 * Encrypts secrets that the service must use again, with AES-256-GCM. (Secrets that it only compares are hashed.) A box is the
 * id of its key, a random nonce, the authentication tag and the ciphertext. It opens only with the context it was closed
 * with, such as its table and row, so it cannot be copied to another row.
 */
export class SecretBox {
  private readonly current: Key
  private readonly keys: Key[]

  /** Keys are 32 bytes in base64. Boxes of the previous key still open; none is closed with it. */
  constructor(key: string, previousKey = '') {
    this.current = keyOf(key)
    this.keys = previousKey === '' ? [this.current] : [this.current, keyOf(previousKey)]
  }

  close(text: string, context: string): Buffer {
    const { id, bytes } = this.current
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(context))
    const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([id, nonce, cipher.getAuthTag(), ciphertext])
  }

  /** Throws if the key is unknown, the context is another one, or the box was changed. */
  open(box: Buffer, context: string): string {
    const key = this.keys.find(({ id }) => isClosedWith(box, id))
    if (!key) throw new Error('A secret was encrypted with a key that is not set')
    const [nonce, tag, ciphertext] = split(box)
    const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
  }

  /** Whether a box was closed with the current key. If not, it must be closed again before the previous key is removed. */
  isCurrent(box: Buffer): boolean {
    return isClosedWith(box, this.current.id)
  }
}

function keyOf(text: string): Key {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== KEY_BYTES) throw new Error('An encryption key is not 32 bytes in base64')
  return { id: createHash('sha256').update('key id').update(bytes).digest().subarray(0, ID_BYTES), bytes }
}

const isClosedWith = (box: Buffer, id: Buffer) => box.subarray(0, ID_BYTES).equals(id)

function split(box: Buffer): [nonce: Buffer, tag: Buffer, ciphertext: Buffer] {
  const tagAt = ID_BYTES + NONCE_BYTES
  const textAt = tagAt + TAG_BYTES
  return [box.subarray(ID_BYTES, tagAt), box.subarray(tagAt, textAt), box.subarray(textAt)]
}
