/** Renders one field of a form: label, input, hint and error. */
import { type Html, html } from '../../lib/text/html.ts';

export interface Input {
  id: string;
  name: string;
  label: string;
  value: string;
  hint?: string | Html | undefined;
  /** The error message, in the payer's language. */
  problem?: string | undefined;
  /** The options of a select; without it the field is a text input. */
  choices?: { prompt: string; list: readonly string[]; nameOf?: ((choice: string) => string) | undefined } | undefined;
  autocomplete?: string;
  inputmode?: string;
  isFocused?: boolean;
  isOptional?: boolean;
  /** Further attributes of the input. */
  attributes?: Html | undefined;
  /** The class of the element around label and input. */
  className?: string;
  /** An element beside the label. */
  badge?: Html | undefined;
}

export function renderInput(input: Input): Html {
  const { id, name, label, value, hint, problem, choices, autocomplete = 'off', inputmode = 'text' } = input;
  const attributes = html`id="${id}" name="${name}"${!input.isOptional && html` required`} aria-describedby="${id}-error${hint && ` ${id}-hint`}"${
    problem && html` aria-invalid="true"`
  }${input.isFocused && html` autofocus`}${input.attributes}`;
  return html`<div class="field ${input.className}">
<label for="${id}">${label}</label>
${input.badge}
${
  choices
    ? html`<select ${attributes}><option value="">${choices.prompt}</option>${choices.list.map(
        (choice) =>
          html`<option${choices.nameOf && html` value="${choice}"`}${choice === value && html` selected`}>${choices.nameOf?.(choice) ?? choice}</option>`,
      )}</select>`
    : html`<input ${attributes} value="${value}" autocomplete="${autocomplete}" inputmode="${inputmode}" autocapitalize="${
        autocomplete.endsWith('name') ? 'words' : 'none'
      }" spellcheck="false">`
}
<div>
<p class="error" id="${id}-error"${!problem && html` hidden`}>${problem}</p>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
</div>
</div>`;
}
