// Enhances the pages of the panel: times in the viewer's zone, and pages that refresh themselves. Every page works
// without it.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  time.title = `${time.textContent.trim()} UTC`;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

const refresh = document.querySelector('[data-refresh]');
if (refresh) {
  setInterval(() => {
    if (!document.hidden && !document.querySelector('details[open]')) location.reload();
  }, refresh.dataset.refresh * 1000);
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

// Fills a text area from a file. A certificate in binary form becomes PEM.
for (const input of document.querySelectorAll('input[data-fills]')) {
  input.hidden = false;
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (!file) return;
    const text = await file.text();
    const { fills, der } = input.dataset;
    const area = document.getElementById(fills);
    if (text.includes('-----BEGIN') || !der) area.value = text;
    else {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
      area.value = `-----BEGIN ${der}-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${der}-----`;
    }
    input.value = '';
  });
}
