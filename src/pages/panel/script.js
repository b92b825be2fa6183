// Enhances the pages of the panel. Every page works without it. Times are shown in the viewer's zone.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  time.title = `${time.textContent.trim()} UTC`;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

// On a phone the entry of this page may be outside the window.
for (const entry of document.querySelectorAll('nav [aria-current], .tabs [aria-current]')) {
  entry.scrollIntoView({ block: 'nearest', inline: 'center' });
}

const refresh = document.querySelector('[data-refresh]');
if (refresh) {
  setInterval(() => {
    if (!document.hidden && !document.querySelector('details[open]')) location.reload();
  }, refresh.dataset.refresh * 1000);
}

// Values with `data-copy` get a button that copies them.
for (const value of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small copy';
  button.textContent = value.dataset.copy;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(value.textContent);
    button.textContent = value.dataset.copied;
    setTimeout(() => {
      button.textContent = value.dataset.copy;
    }, 2000);
  });
  value.after(' ', button);
}

// A list whose order is in number fields: buttons move an entry, and a changed number moves it, too.
const ordered = [...document.querySelectorAll('[data-order]')];
const list = ordered[0]?.parentElement;
const numberOf = (entry) => entry.querySelector('.position');
const renumber = () =>
  [...list.children].forEach((entry, index) => {
    numberOf(entry).value = index + 1;
  });
for (const entry of ordered) {
  for (const button of entry.querySelectorAll('[data-move]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      if (button.dataset.move === 'up') entry.previousElementSibling?.before(entry);
      else entry.nextElementSibling?.after(entry);
      renumber();
      button.focus();
    });
  }
  numberOf(entry).addEventListener('change', () => {
    const others = [...list.children].filter((other) => other !== entry);
    const before = others[Math.max(0, Number(numberOf(entry).value) - 1)];
    if (before) before.before(entry);
    else list.append(entry);
    renumber();
  });
}

// The preview follows what is typed into its form.
const preview = document.querySelector('[data-preview]');
if (preview) {
  const { elements } = preview.closest('form');
  const colour = elements['branding.colour'];
  const frame = preview.querySelector('iframe');
  const notes = preview.querySelector('[data-preview-notes]');
  const button = preview.querySelector('[data-preview-button]');
  if (button) button.hidden = true;
  let last = frame.src;
  let timer;

  const update = async () => {
    const query = new URLSearchParams({ scheme: elements.preview_scheme.value, page: elements.preview_page.value });
    for (const name of preview.dataset.previewed.split(' ')) query.set(name, elements[name].value.trim());
    const source = `${new URL(preview.dataset.preview, location)}?${query}`;
    if (source === last) return;
    last = source;
    frame.contentWindow.location.replace(source);
    const answer = await fetch(`${preview.dataset.preview}/notes?${query}`);
    if (!answer.ok || source !== last) return;
    notes.replaceChildren(
      ...(await answer.json()).notes.map((note) => {
        const item = document.createElement('li');
        item.textContent = note;
        return item;
      }),
    );
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(update, 250);
  };
  preview.closest('form').addEventListener('input', schedule);

  // A colour picker beside the text of the colour, which can be empty.
  const picker = document.createElement('input');
  picker.type = 'color';
  picker.className = 'picker';
  picker.ariaLabel = colour.labels[0].textContent;
  picker.disabled = colour.matches(':disabled');
  const isColour = (text) => /^#[0-9a-f]{6}$/i.test(text);
  if (isColour(colour.value)) picker.value = colour.value;
  picker.addEventListener('input', () => {
    colour.value = picker.value;
  });
  colour.addEventListener('input', () => {
    if (isColour(colour.value)) picker.value = colour.value;
  });
  colour.after(picker);
}

// Passkeys: a form with `data-passkey` gets its options from the server and sends the browser's result. Without
// JavaScript, or at an address that passkeys do not belong to, its button stays hidden.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { passkey: call, rp, options: source } = form.dataset;
  const isHere = rp === location.hostname;
  const isSupported = window.PublicKeyCredential?.parseRequestOptionsFromJSON && isHere;
  for (const element of form.querySelectorAll('[data-passkey-off]')) element.hidden = isSupported;
  for (const element of document.querySelectorAll('[data-passkey-elsewhere]')) element.hidden = isHere;
  if (!isSupported) continue;
  for (const element of document.querySelectorAll('[data-passkey-on]')) element.hidden = false;
  const button = form.querySelector('button[data-passkey-button]');
  const failure = form.querySelector('[data-passkey-failed]');
  button.type = 'submit';
  let waiting = new AbortController();

  const use = async (mediation) => {
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const { options, state } = await (await fetch(source, { signal })).json();
    let credential;
    if (call === 'create') {
      const typed = new FormData(form);
      options.user.name = typed.get('email') || options.user.name;
      options.user.displayName = typed.get('name') || options.user.name;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      credential = await navigator.credentials.create({ publicKey, signal });
    } else {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
      credential = await navigator.credentials.get({ publicKey, signal, ...(mediation && { mediation }) });
    }
    form.elements.state.value = state;
    form.elements.credential.value = JSON.stringify(credential.toJSON());
    form.action = button.formAction;
    form.submit();
  };

  form.addEventListener('submit', async (event) => {
    if (event.submitter !== button) return;
    event.preventDefault();
    button.disabled = true;
    failure.hidden = true;
    try {
      await use();
    } catch {
      failure.hidden = false;
      button.disabled = false;
    }
  });

  // The browser offers passkeys in the list of the e-mail field, too.
  if (call === 'get' && document.querySelector('[autocomplete~=webauthn]')) {
    PublicKeyCredential.isConditionalMediationAvailable?.()
      .then((isAvailable) => isAvailable && use('conditional'))
      .catch(() => undefined);
  }
}
