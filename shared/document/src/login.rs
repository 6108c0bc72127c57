//! Recognising a saved sign-in page by its words, and the titles of such pages.
//!
//! A page that is loaded or fetched is recognised by its form ([`SignInForm`](crate::SignInForm)), but a saved page has
//! only words. So the rule is narrow: the title or the first line is "sign in" and nothing else, and the text is short
//! and has the label of a password field.

use crate::sections::plain;

/// The maximum number of characters of a page that is only a form.
const SPARSE: usize = 800;

/// The maximum length in characters of a field's label.
const LABEL: usize = 60;

/// Titles of sign-in pages, in lower case; a `*` matches any text. Some are ordinary words of their language,
/// so a title alone makes no sign-in page.
#[rustfmt::skip]
const TITLES: &[&str] = &[
    // English
    "sign in", "sign in to *", "sign in with *", "sign in or *", "sign-in", "sign-in to *", "signin", "log in",
    "log in to *", "log in with *", "log in or *", "log into *", "log on", "log-in", "login", "login to *", "login or *",
    "login/*", "login page", "member login", "customer login", "user login", "account login", "admin login",
    "please sign in*", "please log in*",
    // German
    "anmelden", "anmeldung", "einloggen", "bitte anmelden*", "bitte melden sie sich*", "bitte melde dich*",
    "melde dich an*", "melden sie sich an*", "log dich ein*", "loggen sie sich ein*", "mitglieder-login",
    "kunden-login", "kundenlogin",
    // French
    "connexion", "connexion à *", "se connecter", "se connecter à *", "connectez-vous*", "s'identifier",
    "identifiez-vous*", "identification", "s'authentifier", "authentification", "espace client",
    // Spanish and Catalan
    "iniciar sesión", "iniciar sesión en *", "inicia sesión*", "inicie sesión*", "inicio de sesión", "acceder",
    "acceder a *", "accede a tu cuenta", "ingresar", "identificarse", "identifícate", "acceso clientes",
    "acceso de usuarios", "inicia la sessió", "inicia sessió", "iniciar sessió",
    // Portuguese
    "entrar", "entrar em *", "entrar no *", "entrar na *", "entre na sua conta", "iniciar sessão", "inicie sessão*",
    "início de sessão", "fazer login", "fazer login em *", "faça login*", "faça seu login", "acessar",
    "acesse sua conta", "acesse a sua conta",
    // Italian
    "accedi", "accedi a *", "accedi al *", "accedi alla *", "area riservata", "accesso utenti", "accesso clienti",
    "effettua l'accesso", "effettua il login",
    // Romanian
    "autentificare", "conectare", "conectați-vă*", "conectează-te*", "intră în cont",
    // Dutch and Afrikaans
    "inloggen", "inloggen bij *", "inloggen op *", "aanmelden", "aanmelden bij *", "log in bij *", "meld u aan*",
    "meld je aan*", "meld aan",
    // Swedish, Danish, Norwegian, Icelandic
    "logga in", "logga in på *", "inloggning", "log ind", "log ind på *", "logg inn", "logg på", "logg inn på *",
    "innlogging", "pålogging", "innskráning",
    // Finnish, Estonian, Latvian, Lithuanian
    "kirjaudu", "kirjaudu sisään", "kirjaudu sisään *", "sisäänkirjautuminen", "kirjautuminen", "logi sisse",
    "sisselogimine", "ieiet", "pieslēgties", "pieteikties", "prisijungti", "prisijungimas", "prisijunkite*",
    // Polish, Czech, Slovak
    "zaloguj", "zaloguj się", "zaloguj się do *", "zaloguj się na *", "logowanie", "logowanie do *", "přihlášení",
    "přihlášení do *", "přihlásit se", "přihlásit", "přihlaste se*", "prihlásenie", "prihlásiť sa", "prihlásiť",
    "prihláste sa*",
    // Croatian, Serbian, Slovene, Hungarian, Albanian
    "prijava", "prijavi se", "prijavite se*", "prijavi me", "пријава", "пријавите се*", "vpis", "bejelentkezés", "belépés",
    "jelentkezzen be*", "hyr", "identifikohu",
    // Russian, Ukrainian, Belarusian, Bulgarian
    "вход", "вход в *", "вход на *", "вход для *", "войти", "войти в *", "войти на *", "войдите*", "авторизация",
    "авторизуйтесь*", "вхід", "вхід до *", "вхід в *", "увійти", "увійти в *", "увійти до *", "увійдіть*", "авторизація",
    "уваход", "увайсці", "влизане", "влез", "впиши се",
    // Greek
    "σύνδεση", "είσοδος", "συνδεθείτε*",
    // Turkish and Azerbaijani
    "giriş", "giriş yap", "giriş yapın", "üye girişi", "kullanıcı girişi", "oturum aç", "oturum açın", "oturum açma",
    "daxil ol",
    // Arabic, Persian, Hebrew
    "تسجيل الدخول", "تسجيل دخول", "ورود", "ورود به *", "ورود کاربران", "כניסה", "התחברות", "התחבר", "כניסה לחשבון",
    // Hindi, Thai, Vietnamese, Indonesian and Malay
    "लॉग इन", "लॉग इन करें", "लॉगिन", "साइन इन करें", "เข้าสู่ระบบ", "ลงชื่อเข้าใช้", "ลงชื่อเข้าสู่ระบบ", "đăng nhập",
    "đăng nhập vào *", "masuk", "masuk ke *", "log masuk",
    // Japanese
    "ログイン", "ログイン画面", "ログインページ", "ログインする", "*にログイン", "会員ログイン", "サインイン", "*にサインイン",
    "ログイン/*",
    // Chinese
    "登录", "登入", "登陆", "用户登录", "账号登录", "帐号登录", "密码登录", "会员登录", "欢迎登录", "登录注册", "登录/*", "统一身份认证",
    "用戶登入", "會員登入", "帳號登入", "登入/*",
    // Korean
    "로그인", "로그인하기", "로그인 페이지", "회원 로그인", "회원로그인", "*에 로그인",
];

/// Titles of pages for registration, in the same form.
#[rustfmt::skip]
const REGISTRATIONS: &[&str] = &[
    "sign up", "sign up *", "sign-up", "signup", "register", "register for *", "registration", "create account",
    "create an account*", "create your account*", "create your *account", "create a free account*", "new account",
    "get started*", "join now", "join us",
    "registrieren", "registrierung", "jetzt registrieren", "konto erstellen", "konto anlegen", "neues konto*",
    "benutzerkonto erstellen", "kundenkonto anlegen", "erstelle dein konto*", "erstellen sie ein konto*",
    "inscription", "s'inscrire", "inscrivez-vous*", "créer un compte*", "créer mon compte", "créez votre compte*",
    "créez un compte*", "création de compte", "création d'un compte",
    "registro", "registrarse", "regístrate*", "regístrese*", "crear cuenta", "crear una cuenta*", "crea tu cuenta*",
    "cadastro", "cadastre-se*", "criar conta", "criar uma conta*", "crie sua conta*", "registar", "registe-se*",
    "registrati*", "registrazione", "crea un account*", "crea account", "iscriviti*",
    "registreren", "account aanmaken", "maak een account*", "registrera*", "skapa konto", "opret konto",
    "opprett konto", "rekisteröidy*", "luo tili", "rejestracja", "zarejestruj się*", "załóż konto", "utwórz konto",
    "registrace", "registrácia", "zaregistrovat se", "vytvořit účet", "regisztráció", "înregistrare", "creare cont",
    "регистрация", "зарегистрироваться", "создать аккаунт", "реєстрація", "зареєструватися", "εγγραφή",
    "kayıt ol", "üye ol", "hesap oluştur", "kaydol", "إنشاء حساب", "ثبت نام", "הרשמה",
    "สมัครสมาชิก", "đăng ký", "daftar", "साइन अप करें",
    "新規登録", "新規会員登録", "会員登録", "無料会員登録", "ユーザー登録", "アカウント登録", "アカウント作成", "アカウントを作成*", "アカウントの作成",
    "サインアップ",
    "注册", "注册账号", "用户注册", "会员注册", "免费注册", "立即注册", "欢迎注册", "新用户注册", "註冊", "會員註冊", "用戶註冊",
    "회원가입", "회원 가입", "계정 만들기",
];

/// Labels of password fields.
#[rustfmt::skip]
const PASSWORDS: &[&str] = &[
    "password", "passwort", "kennwort", "mot de passe", "contraseña", "contrasenya", "senha", "palavra-passe", "parolă",
    "wachtwoord", "lösenord", "adgangskode", "passord", "lykilorð", "salasana", "parool", "parole", "slaptažodis",
    "hasło", "heslo", "lozinka", "лозинка", "geslo", "jelszó", "пароль", "парола", "κωδικός", "şifre", "parola",
    "كلمة المرور", "کلمه عبور", "رمز عبور", "סיסמה", "סיסמא", "पासवर्ड", "รหัสผ่าน", "mật khẩu", "kata sandi",
    "kata laluan", "パスワード", "密码", "密碼", "비밀번호",
];

/// Whether a saved page with this title and Markdown body is only a sign-in form.
///
/// ```
/// use ragmaker_document::looks_like_login;
///
/// assert!(looks_like_login("Sign in · Example", "# Sign in\n\nEmail\n\nPassword"));
/// assert!(!looks_like_login("Sign in", "The command asks for your password and stores a token."));
/// ```
pub fn looks_like_login(title: &str, body: &str) -> bool {
    let has_field = |line: String| is_label(&line) && PASSWORDS.iter().any(|word| line.contains(word));
    is_headed_login(title, body) && body.lines().map(normalized).any(has_field)
}

/// Whether a page is short, and its title or its first line is "sign in" and nothing else.
pub fn is_headed_login(title: &str, body: &str) -> bool {
    if body.chars().nth(SPARSE).is_some() {
        return false;
    }
    // The description of a login command or endpoint has code.
    if body.lines().any(|line| line.starts_with("```")) {
        return false;
    }
    let first = body.lines().map(normalized).find(|line| !line.is_empty()).unwrap_or_default();
    is_login_title(title) || is_login_title(&first)
}

/// Whether a title, or a part of it beside the name of a site, is "sign in" and nothing else.
pub(crate) fn is_login_title(title: &str) -> bool {
    is_titled(title, TITLES)
}

/// Whether a title, or a part of it, is "sign up" and nothing else.
pub(crate) fn is_registration_title(title: &str) -> bool {
    is_titled(title, REGISTRATIONS)
}

fn is_titled(title: &str, titles: &[&str]) -> bool {
    let title = normalized(title).replace('’', "'");
    let parts = title.split(['|', '–', '—', '·', '｜', ':', '：', '«', '»', '•']);
    let parts = parts.flat_map(|part| part.split(" - ")).flat_map(|part| part.split(" / "));
    parts.map(|part| part.trim().trim_end_matches(['.', '!', '！', '…'])).any(|part| {
        let is = |known: &&str| is(part, known);
        !part.is_empty() && titles.iter().any(is)
    })
}

/// A line in lower case, without the marks of a heading, a list, links or emphasis.
fn normalized(line: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '-' | '_' | '|');
    plain(line).trim_matches(is_mark).to_lowercase()
}

fn is(part: &str, known: &str) -> bool {
    known.split_once('*').map_or(part == known, |(start, end)| {
        part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
    })
}

/// Whether a line is short and no sentence.
fn is_label(line: &str) -> bool {
    line.chars().nth(LABEL).is_none() && !line.ends_with(['.', '。', '!', '！'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_in_many_languages() {
        for (title, body) in [
            (
                "Sign in · Tidemark Cloud",
                "# Welcome back\n\nEmail address\n\nPassword\n\n[Forgot your password?](/reset)",
            ),
            ("Example", "# Log in to Example\n\nUser name Password Remember me"),
            ("会員ログイン｜潮位記録", "# 会員ログイン\n\n- メールアドレス\n- パスワード"),
            ("Kundenkonto – Anmelden", "Benutzername Passwort\n\n[Passwort vergessen?](/reset)"),
            ("用户登录 - 潮汐记录", "## 账号登录\n\n手机号\n\n密码\n\n[忘记密码](/reset)"),
            ("會員登入", "帳號\n\n密碼"),
            ("Connexion | Marées", "# Connectez-vous\n\nAdresse e-mail\n\nMot de passe"),
            ("Zaloguj się", "Login\n\nHasło"),
            ("Вход в личный кабинет", "Логин\n\nПароль"),
            ("Sign in", "[Forgot your password?](https://accounts.tidemark.example/users/password/new?locale=en)"),
        ] {
            assert!(looks_like_login(title, body), "{title}");
        }
    }

    #[test]
    fn text_about_signing_in_is_no_form() {
        let long = "Password\n\n".to_owned() + &"The station log records the height of the water. ".repeat(40);
        for (title, body) in [
            ("Login", "The command asks for the password of the account and stores a token."),
            ("Sign in", long.as_str()),
            ("How to sign in", "Email\n\nPassword"),
            ("Passwords", "# Passwords\n\nA password"),
            ("ログインの仕組み", "パスワード"),
            ("Anmelden", "# Anmelden\n\nZum Kurs kann man sich bis Freitag anmelden."),
            ("登录日志", "密码"),
            ("Entrar", "Entrar é um verbo. A senha não é precisa."),
            ("Вход", "# Вход\n\nМесто, через которое входят."),
            ("Login", "Logs a user in.\n\n```\nPOST /login\n```\n\nThe password"),
        ] {
            assert!(!looks_like_login(title, body), "{title}");
        }
    }

    #[test]
    fn titles_are_known_in_many_languages() {
        for title in [
            "Iniciar sesión",
            "Acceder",
            "Entrar",
            "Iniciar sessão",
            "Fazer login",
            "Accedi",
            "Zaloguj się",
            "Logowanie",
            "Вход",
            "Войти",
            "Авторизация",
            "로그인",
            "Inloggen",
            "Aanmelden",
            "Logga in",
            "Giriş yap",
            "Oturum aç",
            "Přihlášení",
            "S’identifier",
            "Melde dich an",
            "Tidemarkにログイン",
            "Log in / Register",
            "登录/注册",
            "Connexion - Marées",
            "Log in or sign up",
            "Войдите в аккаунт",
        ] {
            assert!(is_login_title(title), "{title}");
        }
        for title in ["", "|", "Entrar en calor", "Connexions", "Вход воспрещён", "Sign up", "Signing in", "アクセス"]
        {
            assert!(!is_login_title(title), "{title}");
        }
        for title in ["Sign up", "Create your account", "Créez votre compte", "新規会員登録", "Registrieren | Pegel"]
        {
            assert!(is_registration_title(title) && !is_login_title(title), "{title}");
        }
        assert!(!is_registration_title("Sign in") && !is_registration_title("Register allocation"));
    }
}
