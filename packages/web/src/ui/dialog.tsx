import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { focusAfterRender } from './focus.ts'
import { Icon } from './icon.tsx'
import { openLayers } from './layers.ts'
import { t } from './messages.ts'
import { useSecondClickGuard } from './second-click.ts'

interface DialogProps {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  /** `wide` is for long texts. */
  size?: 'small' | 'medium' | 'wide'
  /** Shown beside the close button. */
  actions?: ReactNode
  /** Hides the heading visually, when the content starts with its own. */
  hasOwnHeading?: boolean
  /** Is above everything that is open, also above popovers, which stay open. */
  isOnTop?: boolean
}

/** So soon after the dialog has opened, a click beside it belongs to a double click, also of a device that does not count clicks. */
const DOUBLE_CLICK_MS = 400

/** A modal dialog. It is open as long as it is mounted. */
export function Dialog({
  title,
  onClose,
  children,
  size = 'medium',
  actions,
  hasOwnHeading = false,
  isOnTop = false,
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  const [before] = useState(() => document.activeElement)
  const openedAt = useRef(0)
  useEffect(() => {
    openedAt.current = performance.now()
    return () => focusAfterRender(findRemaining)
  }, [])
  const guard = useSecondClickGuard()
  return (
    <BaseDialog.Root
      open
      onOpenChange={(_, { reason, event }) => {
        // The second click of a double click meets the backdrop of the dialog that the first one opened.
        const isDoubleClick =
          (event instanceof UIEvent && event.detail > 1) || performance.now() - openedAt.current < DOUBLE_CLICK_MS
        if (reason !== 'outside-press' || !isDoubleClick) onClose()
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop
          className={isOnTop ? 'backdrop is-on-top' : 'backdrop'}
          forceRender
          onMouseDown={(event) => event.detail > 1 && event.preventDefault()}
        />
        <BaseDialog.Viewport
          className={isOnTop ? 'dialog-viewport is-on-top' : 'dialog-viewport'}
          // The second click must not take the focus out of the dialog either.
          onMouseDown={(event) => event.detail > 1 && event.target === event.currentTarget && event.preventDefault()}
        >
          <BaseDialog.Popup
            ref={popup}
            className={`layer dialog is-${size}`}
            initialFocus={() => focusFirst(popup.current)}
            {...guard}
            // Arrow keys are shortcuts of some dialogs; the library would stop them.
            onKeyDown={(event) => {
              if (event.key.startsWith('Arrow')) event.preventBaseUIHandler()
            }}
            // The element may have been rendered again, or nothing had the focus; then the caller sets it, or `findRemaining`.
            finalFocus={() =>
              before instanceof HTMLElement && before.isConnected && before !== document.body ? before : false
            }
          >
            <header className="dialog-head">
              <BaseDialog.Title className={hasOwnHeading ? 'visually-hidden' : undefined}>{title}</BaseDialog.Title>
              <span className="spacer" />
              {actions}
              <BaseDialog.Close className="icon-button" aria-label={t.close}>
                <Icon name="close" />
              </BaseDialog.Close>
            </header>
            {children}
          </BaseDialog.Popup>
        </BaseDialog.Viewport>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}

/** The first control of the content, not the close button. */
const findFirst = (popup: HTMLElement | null | undefined) =>
  popup?.querySelector<HTMLElement>('[data-first], .dialog-body :is(input, textarea, button, a)')

/** After a dialog has closed: the first control of the dialog below it, or the heading of the page. */
function findRemaining() {
  const layers = openLayers()
  return layers.length > 0 ? findFirst(layers[layers.length - 1]) : document.querySelector<HTMLElement>('h1')
}

/** Focuses the first control. Returns whether the library should choose instead. */
function focusFirst(popup: HTMLElement | null): HTMLElement | boolean {
  const first = findFirst(popup)
  if (!first?.matches('.dialog-body')) return first ?? true
  // A whole area has no frame until the user tabs to it.
  const quietly: FocusOptions & { focusVisible: boolean } = { preventScroll: true, focusVisible: false }
  first.focus(quietly)
  return false
}
