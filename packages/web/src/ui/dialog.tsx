import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { type ReactNode, useRef, useState } from 'react'
import { Icon } from './icon.tsx'
import { t } from './messages.ts'

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
}

/** A modal dialog. It is open as long as it is mounted. */
export function Dialog({ title, onClose, children, size = 'medium', actions, hasOwnHeading = false }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  const [before] = useState(() => document.activeElement)
  return (
    <BaseDialog.Root open onOpenChange={onClose}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" forceRender />
        <BaseDialog.Viewport className="dialog-viewport">
          <BaseDialog.Popup
            ref={popup}
            className={`layer dialog is-${size}`}
            // The first control of the content, not the close button.
            initialFocus={() =>
              popup.current?.querySelector<HTMLElement>('[data-first], .dialog-body :is(input, textarea, button, a)') ??
              true
            }
            // Arrow keys are shortcuts of some dialogs; the library would stop them.
            onKeyDown={(event) => {
              if (event.key.startsWith('Arrow')) event.preventBaseUIHandler()
            }}
            // The element may have been rendered again; then the caller sets the focus.
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
