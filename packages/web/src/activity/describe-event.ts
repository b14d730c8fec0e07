import type { User } from '@lockstep/client'
import type { EventMessage } from '@lockstep/client/describe'
import { dayNames } from '../ui/days.ts'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'
import type { NameLookup } from './name-lookup.ts'
import type { GroupKind, Sentence, SentencePart } from './sentence.ts'

const quoted = (name: string) => t.quoted({ name })

/** Puts an event into words, without its actor. */
export function sentenceOf(message: EventMessage, names: NameLookup, actor_id: string | null): Sentence {
  const { key, on, id, name, card_id, people = [], linked } = message
  const card = (of: string, title: string): SentencePart =>
    names.exists(of) ? { text: quoted(title), card_id: of } : { text: quoted(title) }
  /** The card that it belongs to. */
  const at = (preposition: string = t.onCard): SentencePart[] => {
    const title = names.cardTitle(card_id)
    return card_id === undefined || title === undefined ? [] : [{ text: preposition }, card(card_id, title)]
  }
  const object = objectOf(message, card(id, name))
  const kind = on === 'board' || on === 'comment' ? '' : on
  const sentence = (verb: string, rest: SentencePart[] = [], groupedAs: GroupKind | '' = kind): Sentence => ({
    verb,
    object,
    rest,
    groupedAs,
  })
  const text = (words: string) => [{ text: words }]
  const column = names.column(message.column_id ?? '')
  const count = message.cardCount ?? 0
  const withCards = count > 0 ? text(t.withCards({ count })) : []
  const who = people.length > 0 ? whoOf(people, actor_id) : t.someone
  switch (key) {
    case 'created':
      if (on === 'comment') return { ...sentence(t.commentedOn), object: at()[1] ?? { text: t.aDeletedCard } }
      if (on === 'member') return sentence(t.invited)
      if (on === 'card') return sentence(t.added, text(t.toColumn({ column })))
      if (on === 'attachment') return { ...sentence(t.attached, at(t.toCard)), object: { text: quoted(name) } }
      return sentence(t.added, at(on === 'item' ? t.toCard : t.onCard))
    case 'deleted':
    case 'archived': {
      const verb = key === 'archived' ? t.archived : t.deleted
      if (on === 'member') return sentence(t.removed, text(t.fromBoard))
      if (on === 'card') return sentence(verb, text(t.fromColumn({ column })))
      if (on === 'column') return sentence(verb, withCards)
      return sentence(verb, at(on === 'checklist' || on === 'comment' ? t.onCard : t.fromCard))
    }
    case 'restored':
      return sentence(t.restored, on === 'card' ? text(t.toColumn({ column })) : withCards)
    case 'changed':
      return sentence(on === 'comment' ? t.edited : t.changed, at())
    case 'renamed':
      return sentence(t.renamed, text(t.toNewName({ name: message.newName ?? '' })), '')
    case 'description_changed':
      if (on === 'card') return sentence(t.changedDescriptionOf)
      return { ...sentence(t.changed), object: { text: t.theBoardDescription } }
    case 'due_changed':
      return message.dueOn
        ? sentence(t.setDueDateOf, text(t.toDay({ day: dayNames.shortWithYear(message.dueOn) })))
        : sentence(t.removedDueDateOf)
    case 'role_changed':
      return { ...sentence(t.made, text(message.role === 'owner' ? t.anOwner : t.aMember)), object: { text: who } }
    case 'checked':
    case 'unchecked':
      return { ...sentence(key === 'checked' ? t.checkedOff : t.unchecked, at()), object: { text: quoted(name) } }
    case 'moved':
      return sentence(t.moved, on === 'card' ? text(t.withinColumn({ column })) : at())
    case 'moved_to_other_list':
      return sentence(t.moved, text(t.toColumn({ column })))
    case 'placed':
      return sentence(t.placed, text(t.inColumn({ column })))
    case 'rebalanced':
      return sentence(t.adjustedPosition)
    case 'assigned':
    case 'unassigned': {
      const isAssigned = key === 'assigned'
      const target =
        on === 'card'
          ? [{ text: isAssigned ? t.toCard : t.fromCard }, object]
          : text(isAssigned ? t.toItem({ name }) : t.fromItem({ name }))
      const groupedAs = people.length === 1 && on === 'card' ? 'member' : ''
      const verb = isAssigned ? t.assigned : t.unassigned
      return { ...sentence(verb, [...target, ...at()], groupedAs), object: { text: who } }
    }
    case 'linked':
    case 'unlinked': {
      const [verb, preposition] = key === 'linked' ? [t.added, t.toCard] : [t.removed, t.fromCard]
      // Only labels are linked.
      const other = linked?.name === undefined ? t.aLabel : t.theLabel({ name: linked.name })
      return { ...sentence(verb, [{ text: preposition }, object], 'label'), object: { text: other } }
    }
    case 'left':
      return { ...sentence(t.left, [], ''), object: { text: t.theBoard } }
    case 'unknown':
      return { ...sentence(t.madeChange), object: { text: t.unknownKind({ kind: name }) } }
  }
}

const named = {
  column: t.theColumn,
  label: t.theLabel,
  checklist: t.theChecklist,
  item: t.theItem,
  attachment: t.theFile,
}

function objectOf({ on, name, people = [] }: EventMessage, card: SentencePart): SentencePart {
  if (on === 'card') return card
  if (on === 'board') return { text: t.theBoard }
  if (on === 'comment') return { text: t.aComment }
  if (on === 'member') return { text: people.map(nameOf).join() }
  return { text: named[on]({ name }) }
}

const listed = (names: readonly string[]): string => {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : t.lastOfNames({ names: names.slice(0, -1).join(', '), last })
}

/** The names of the users; the actor is “themselves”. */
const whoOf = (users: readonly User[], actor_id: string | null): string =>
  listed(users.map((user) => (user.id === actor_id ? t.themselves : nameOf(user))))
