import { type Card, type Comment, isLockstepError, randomId } from '@lockstep/client'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { readDraft, useDraftName, writeDraft } from '../card/drafts.ts'
import { usePastedImages } from '../card/use-pasted-images.ts'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { errorMessage } from '../ui/failure.tsx'
import { Keys } from '../ui/keys.tsx'
import { CommentEditor, lengthProblem } from './comment-editor.tsx'
import { type MentionText, shownText, storedText } from './mentions.ts'
import { t } from './messages.ts'

interface ComposerProps {
  card: Card
  area: RefObject<HTMLTextAreaElement | null>
  isOffline: boolean
  onSent: (comment: Comment) => void
  /** Leaves the field; the text stays. */
  onEscape: () => void
  onAttach: () => void
}

/** The field for a new comment. Its text is a draft until it is sent. */
export function Composer({ card, area, isOffline, onSent, onEscape, onAttach }: ComposerProps) {
  const draftName = useDraftName(card.id, 'comment')
  const [value, setValue] = useState(() => shownText(readDraft(draftName)?.text ?? ''))
  const [isUsed, setUsed] = useState(false)
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  /** A comment that is sent again has the same id, so that it is not there twice. */
  const id = useRef(randomId())
  const isEmpty = value.text.trim() === ''
  const pasted = usePastedImages(card.id, area, value.text)
  const cannotSend = isSending || isEmpty || pasted.isUploading
  const box = useRef<HTMLDivElement>(null)
  // With the buttons, which were not there before.
  useEffect(() => {
    if (isUsed) box.current?.scrollIntoView({ block: 'nearest' })
  }, [isUsed])
  // The sent comment is above it now.
  const [sentCount, setSentCount] = useState(0)
  useLayoutEffect(() => {
    if (sentCount > 0) box.current?.scrollIntoView({ block: 'nearest' })
  }, [sentCount])
  const write = (next: MentionText) => {
    setValue(next)
    setProblem(undefined)
    writeDraft(draftName, next.text ? { text: storedText(next), base: '' } : undefined)
  }
  const send = async () => {
    if (cannotSend || lengthProblem(value)) return
    if (isOffline) return setProblem(t.offline)
    setProblem(undefined)
    setSending(true)
    try {
      const comment = await createOnce(card.id, id.current, storedText(value))
      id.current = randomId()
      write({ text: '', people: new Map() })
      onSent(comment)
      setSentCount((count) => count + 1)
      announce(t.sent)
    } catch (error) {
      setProblem(t.notSent({ reason: errorMessage(error) }))
    }
    setSending(false)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field shows its buttons when it is used
    <div
      ref={box}
      className="comment-composer"
      onFocus={() => setUsed(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        // A menu of the toolbar is outside.
        if (relatedTarget && !currentTarget.contains(relatedTarget) && !relatedTarget.closest('.menu')) setUsed(false)
      }}
    >
      <CommentEditor
        card={card}
        label={t.newComment}
        placeholder={t.placeholder}
        value={value}
        area={area}
        hasToolbar={isUsed || !isEmpty}
        isSending={isSending}
        pasted={pasted}
        problem={problem}
        onChange={write}
        onSend={() => void send()}
        onEscape={onEscape}
        onAttach={onAttach}
      >
        {(isUsed || !isEmpty) && (
          <div className="cd-editor-foot">
            <button type="button" className="button is-primary" aria-disabled={cannotSend} onClick={() => void send()}>
              {isSending ? t.sending : t.comment} <Keys keys="Ctrl Enter" />
            </button>
          </div>
        )}
      </CommentEditor>
    </div>
  )
}

/** Creates a comment. If the response to an earlier try was lost, it exists, perhaps with an earlier text. */
async function createOnce(card_id: string, id: string, body: string): Promise<Comment> {
  try {
    return await client.createComment({ card_id, id, body })
  } catch (error) {
    if (!isLockstepError(error, 'id_taken')) throw error
    return client.updateComment({ comment_id: id, body })
  }
}
