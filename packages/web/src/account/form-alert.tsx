/** An error about the whole form. It takes the focus, so that screen readers read it. */
export function FormAlert({ text }: { text: string | undefined }) {
  return (
    text && (
      <p className="form-alert" role="alert" tabIndex={-1}>
        {text}
      </p>
    )
  )
}
