"""Keys that begin with a fixed prefix, one line per vendor. Only data: hooks import this."""

from __future__ import annotations

# Kind, prefixes, and the regular expression of what follows. ^ means that the prefix must begin a
# word. The minimum lengths are below the official ones, so that the beginning of a key that was
# cut off is found too: 10 characters after a prefix that nothing else has. Repetitions without an
# upper limit are possessive (`++`), so that no input takes quadratic time.
PREFIXED_KEYS = (
    # Models
    ("anthropic-key", "sk-ant-", r"[\w-]{10,}+"),
    ("openrouter-key", "sk-or-", r"[\w-]{10,}+"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-lf-", r"[\w-]{10,}+"),
    ("openai-key", "sk-", r"^[\w-]{20,}+"),
    ("openai-key", "sess-", r"^[A-Za-z0-9]{36,}+"),
    ("model-key", "gsk_ xai- pplx- nvapi- tvly- pcsk_ lsv2_pt_ lsv2_sk_ csk-", r"^[\w-]{16,}+"),
    ("model-key", "r8_ tgp_v1_ fw_ phx_ rpa_ ctx7sk-", r"^[\w-]{30,}+"),
    ("huggingface-token", "hf_ api_org_", r"^[A-Za-z0-9]{16,}+"),
    ("holdfast-token", "hft_", r"[\w-]{10,}+"),
    # Source code, packages, builds
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{10,}+"),
    ("gitlab-token", "glpat- gldt- glrt- glrtr- glptt- glft- glsoat- glimt-", r"[\w.-]{10,}+"),
    ("gitlab-token", "glcbt- glagent- gloas- glffct- glwt- GR1348941", r"[\w.-]{10,}+"),
    ("atlassian-token", "ATATT ATCTT ATSTT", r"[\w=-]{16,}+"),
    ("atlassian-token", "ATBB ATTA", r"^[\w=-]{24,}+"),
    ("linear-key", "lin_api_ lin_oauth_ lin_wh_", r"[A-Za-z0-9]{10,}+"),
    ("notion-token", "ntn_ secret_", r"^[A-Za-z0-9]{40,}+"),
    ("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{10,}+"),
    ("npm-token", "npm_", r"^[A-Za-z0-9]{16,}+"),
    ("pypi-token", "pypi-AgEI pypi-AgEN", r"[\w-]{10,}+"),
    ("registry-token", "rubygems_ dckr_pat_ dckr_oat_ CLOJARS_", r"[\w-]{10,}+"),
    ("crates-token", "cio", r"^[A-Za-z0-9]{32}(?!\w)"),
    ("artifactory-key", "AKCp cmVmdGtuOjAxO", r"^[A-Za-z0-9]{20,}+"),
    ("build-token", "CCIPAT_ CCIPRJ_ bkua_ bkat_ bkct_ sgp_ sqp_ squ_ sqa_", r"^[\w-]{16,}+"),
    ("build-token", "pnu_ rdme_ ico- tk-us- API-", r"^[A-Za-z0-9]{26,}+"),
    # Clouds
    (
        "aws-key",
        "AKIA ASIA ABIA ACCA",
        r"^[A-Z0-9]{12,}+(?![A-Za-z0-9_])(?:[\s,:]{1,3}[A-Za-z0-9+/]{40}(?![\w+/]))?",
    ),
    ("aws-session", "FwoGZXIvYXdz IQoJb3JpZ2lu", r"[A-Za-z0-9+/=%]{40,}+"),
    ("aws-bedrock-key", "ABSK bedrock-api-key-", r"^[A-Za-z0-9+/=]{30,}+"),
    ("google-key", "AIza", r"^(?<![+/]AIza)[\w-]{20,}+"),
    ("google-token", "ya29. GOCSPX-", r"[\w.-]{10,}+"),
    ("google-refresh-token", "1//0 4/0A", r"^[\w-]{30,}+"),
    ("tencent-key", "AKID", r"^[A-Za-z0-9]{24,}+"),
    ("alibaba-key", "LTAI", r"^[A-Za-z0-9]{12,}+"),
    ("yandex-key", "AQVN YCAJ t1.9eu", r"^[\w.=-]{30,}+"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[A-Za-z0-9]{10,}+"),
    ("databricks-token", "dapi", r"^[0-9a-f]{24,}+(?!\w)"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"^[A-Za-z0-9]{24,}+"),
    ("supabase-key", "sbp_ sb_secret_", r"[\w-]{10,}+"),
    ("fly-token", "fo1_ fm1a_ fm1r_ fm2_", r"^[\w+/=,-]{20,}+"),
    ("grafana-token", "glsa_ glc_ eyJrIjoi", r"^[\w+/=]{16,}+"),
    ("new-relic-key", "NRAK- NRII- NRJS- NRRA- NRSP-", r"^[\w-]{16,}+"),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s02.", r"[\w.]{16,}+"),
    ("cloud-token", "nfp_ rnd_ HRKU- PMAK- figd_ tskey- pul- napi_", r"^[\w-]{24,}+"),
    ("cloud-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"^[\w.=-]{16,}+"),
    ("cloudflare-key", "v1.0-", r"^[0-9a-f]{24}-[0-9a-f]{60,}+"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{10,}+"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{10,}+"),
    ("age-key", "AGE-SECRET-KEY-", r"[A-Za-z0-9]{10,}+"),
    ("1password-token", "ops_eyJ", r"[\w+/=]{20,}+"),
    ("1password-key", "A3-", r"^[A-Z0-9]{6}-[A-Z0-9]{5,11}(?:-[A-Z0-9]{5,6}){2,4}(?!\w)"),
    # Payments and shops
    ("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{10,}+"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[A-Za-z0-9]{10,}+"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{10,}+"),
    ("square-token", "EAAA", r"^(?<![+/]EAAA)[\w-]{56,}+"),
    ("facebook-token", "EAAB EAAC EAAD EAAG EAAI EAAJ EAAM EAAU", r"^[A-Za-z0-9]{56,}+"),
    ("payment-key", "duffel_test_ duffel_live_ FLWSECK_TEST- FLWSECK-", r"[\w=-]{12,}+"),
    ("payment-key", "shippo_live_ shippo_test_ EZAK EZTK key_live_", r"^[A-Za-z0-9]{24,}+"),
    ("payment-key", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{10,}+\$\w{10,}+"),
    ("plaid-token", "access-production- access-sandbox- access-development-", r"[0-9a-f-]{30,}+"),
    # Messages and people
    (
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxp- xoxe.xoxb-",
        r"[\w%-]{10,}+",
    ),
    ("slack-webhook", "hooks.slack.com/", r"[\w/]{20,}+"),
    ("discord-webhook", "discord.com/api/webhooks/", r"\d{8,20}/[\w-]{20,}+"),
    ("teams-webhook", "webhook.office.com/webhookb2/", r"[\w@/-]{40,}+"),
    ("sendgrid-key", "SG.", r"[\w-]{16,64}\.[\w-]{10,}+"),
    ("mail-key", "xkeysib- xsmtpsib- mlsn.", r"[\w-]{20,}+"),
    ("mailgun-key", "key- pubkey-", r"^[0-9a-f]{32}(?!\w)"),
    ("twilio-key", "SK", r"^[0-9a-f]{32}(?!\w)"),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1-", r"[0-9a-f-]{20,}+"),
    ("dropbox-token", "sl.", r"^(?:u\.)?[\w-]{60,}+"),
    ("airtable-token", "pat", r"^[A-Za-z0-9]{14}\.[a-f0-9]{32,}+"),
    ("typeform-token", "tfp_", r"^[\w.=-]{40,}+"),
    ("contentful-token", "CFPAT-", r"[\w-]{20,}+"),
    ("adobe-secret", "p8e- s-s4t2ud- s-s4t2af-", r"^[\w-]{20,}+"),
    ("frameio-token", "fio-u- dnkey-", r"[\w=-]{30,}+"),
    ("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", r"^[A-Za-z0-9]{16,}+"),
    (
        "launchdarkly-key",
        "sdk- mob- api-",
        r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!\w)",
    ),
    ("jwt", "eyJ", r"^[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}"),
)

# Keys with a fixed part in the middle or at the end: kind, the fixed part, the characters before
# it and their number, and the regular expression of what follows.
INFIX_KEYS = (
    ("terraform-token", ".atlasv1.", "[A-Za-z0-9]", 14, r"[\w-]{16,}+"),
    ("azure-secret", "Q~", r"[\w.~-]", 4, r"[\w.~-]{24,}+"),
    ("azure-devops-token", "JQQJ99", "[A-Za-z0-9]", 52, r"[A-Za-z0-9]{10,}+"),
    ("new-relic-key", "NRAL", "[0-9a-f]", 36, r"(?!\w)"),
    ("mailchimp-key", "-us", "[0-9a-f]", 32, r"\d{1,2}(?!\w)"),
    ("maxmind-key", "_mmk", "[A-Za-z0-9_]", 36, r"(?!\w)"),
    ("telegram-token", ":AA", r"\d", 8, r"[\w-]{30,}+"),
)
