import type { Extension, HtmlExtension } from 'micromark-extension-gfm'

/** A member whom a text can mention. */
export interface MentionedPerson {
  name: string
  isMe: boolean
}
export type MentionedPeople = ReadonlyMap<string, MentionedPerson>

const mention = /^@\[([^[\]\r\n]{1,255})\]\(user:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)$/i
const MAX_LENGTH = '@[](user:)'.length + 255 + 36
const [AT, BRACKET, END] = [64, 91, 41]

type Code = number | null
type State = (code: Code) => State | undefined
interface Effects {
  enter: (type: string) => void
  consume: (code: Code) => void
  exit: (type: string) => void
}

/** Reads `@[Ada Lovelace](user:<id>)` as one token. The types of the parser lack the tokens of extensions. */
function tokenize(effects: Effects, ok: State, nok: State): State {
  let text = ''
  const read: State = (code) => {
    // Codes below zero are line endings and tabs.
    if (code === null || code < 0 || text.length === MAX_LENGTH || (text === '@' && code !== BRACKET)) return nok(code)
    text += String.fromCharCode(code)
    const isEnd = code === END && text.includes('](')
    if (isEnd && !mention.test(text)) return nok(code)
    effects.consume(code)
    if (!isEnd) return read
    effects.exit('mention')
    return ok
  }
  return (code) => {
    effects.enter('mention')
    return read(code)
  }
}

export const mentionSyntax = { text: { [AT]: { name: 'mention', tokenize } } } as unknown as Extension

interface Compiler {
  tag: (html: string) => void
  raw: (html: string) => void
  encode: (text: string) => string
  sliceSerialize: (token: object) => string
}

/** Writes the mention of a member as a chip with their current name, and any other as text. */
export const mentionHtml = (people: MentionedPeople | undefined): HtmlExtension =>
  ({
    enter: {
      mention(this: Compiler, token: object) {
        const [, name = '', id = ''] = mention.exec(this.sliceSerialize(token)) ?? []
        const person = people?.get(id.toLowerCase())
        if (person) this.tag(`<span class="cd-mention${person.isMe ? ' is-me' : ''}">`)
        // In a name, `#12` is not a link.
        this.raw(this.encode(`@${person?.name ?? name}`).replaceAll('#', '&#35;'))
        if (person) this.tag('</span>')
      },
    },
  }) as unknown as HtmlExtension
