//! How those who want the same go together.

use sea_orm::RuntimeErr;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use sea_orm::SqlxError;
use sea_orm::sqlx::error::{DatabaseError, ErrorKind};

use super::*;

/// Nobody has to wait for so long.
const LONG: Duration = Duration::from_secs(3_600);

impl Item for u32 {
    /// One of them is as long as may go together.
    fn bytes(&self) -> usize {
        if *self == 77 { MOST_BYTES } else { 1 }
    }
}

/// What the database says, by its code.
#[derive(Debug)]
struct Said(&'static str);

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Said {}

impl DatabaseError for Said {
    fn message(&self) -> &str {
        self.0
    }

    fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
        Some(self.0.into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

fn said(code: &'static str) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(SqlxError::Database(Box::new(Said(code))).into()))
}

type Numbers = Arc<Gather<u32, u32>>;

/// Who asked for a number, together with which others, once somebody lets them.
#[derive(Clone)]
struct Statement {
    gather: Numbers,
    ran: Arc<Mutex<Vec<Vec<u32>>>>,
    turns: Arc<Semaphore>,
}

impl Statement {
    fn new(patience: Duration) -> Statement {
        let gather = Arc::new(Gather { patience, ..Gather::default() });
        Statement { gather, ran: Arc::default(), turns: Arc::new(Semaphore::new(0)) }
    }

    async fn ask(self, number: u32) -> Result<u32> {
        let Statement { gather, ran, turns } = self;
        let run = move |numbers: Vec<u32>, _: Kept| {
            let (ran, turns) = (ran.clone(), turns.clone());
            async move {
                ran.lock().unwrap().push(numbers.clone());
                turns.acquire().await.unwrap().forget();
                if numbers.contains(&13) {
                    return Err(said("23514"));
                }
                if numbers.contains(&57) {
                    return Err(said("57014"));
                }
                if numbers.contains(&99) {
                    return Err(DbErr::Query(RuntimeErr::SqlxError(sea_orm::SqlxError::PoolClosed.into())));
                }
                Ok((numbers.iter().map(|number| number * 2).collect(), None))
            }
        };
        gather.ask("double".into(), number, run).await
    }

    fn begin(&self, number: u32) -> tokio::task::JoinHandle<Result<u32>> {
        tokio::spawn(self.clone().ask(number))
    }

    fn ran(&self) -> Vec<Vec<u32>> {
        let mut ran = self.ran.lock().unwrap().clone();
        ran.iter_mut().for_each(|numbers| numbers.sort_unstable());
        ran
    }
}

/// Lets everything happen that can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_comes_alone_goes_at_once_and_who_comes_meanwhile_goes_together() {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let others = [doubled.begin(2), doubled.begin(3), doubled.begin(4)];
    settle().await;
    assert_eq!(doubled.ran(), [vec![1]]);
    doubled.turns.add_permits(2);
    assert_eq!(first.await.unwrap().unwrap(), 2);
    for (other, expected) in others.into_iter().zip([4, 6, 8]) {
        assert_eq!(other.await.unwrap().unwrap(), expected);
    }
    assert_eq!(doubled.ran(), [vec![1], vec![2, 3, 4]]);
    settle().await;
    assert!(doubled.gather.lock().is_empty(), "nothing is kept of what is over");
}

/// How many went together of so many who waited for one.
async fn shares(waiting: usize) -> Vec<usize> {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let others: Vec<_> = (100..100 + waiting as u32).map(|number| doubled.begin(number)).collect();
    settle().await;
    doubled.turns.add_permits(waiting);
    assert_eq!(first.await.unwrap().unwrap(), 2);
    for other in others {
        other.await.unwrap().unwrap();
    }
    doubled.ran()[1..].iter().map(Vec::len).collect()
}

#[tokio::test]
async fn few_go_all_together_and_of_many_half_do() {
    assert_eq!(shares(FEW).await, [FEW]);
    assert_eq!(shares(FEW + 1).await, [FEW, 1]);
    assert_eq!(shares(2 * FEW + 1).await, [FEW + 1, FEW]);
}

#[tokio::test]
async fn no_more_go_together_than_may() {
    assert_eq!(shares(2 * MOST).await[0], MOST);
    assert_eq!(shares(2 * MOST + 2).await[..2], [MOST, MOST / 2 + 1]);
}

#[tokio::test]
async fn what_is_refused_of_one_is_tried_for_each() {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let (good, bad) = (doubled.begin(2), doubled.begin(13));
    settle().await;
    doubled.turns.add_permits(9);
    first.await.unwrap().unwrap();
    assert_eq!(good.await.unwrap().unwrap(), 4);
    assert!(matches!(bad.await.unwrap(), Err(Error::Internal(_))));
    assert_eq!(doubled.ran(), [vec![1], vec![2, 13], vec![2], vec![13]]);
}

#[tokio::test]
async fn what_may_have_happened_is_not_tried_again() {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let others = [doubled.begin(2), doubled.begin(99)];
    settle().await;
    doubled.turns.add_permits(1);
    first.await.unwrap().unwrap();
    settle().await;
    let slow = [doubled.begin(3), doubled.begin(57)];
    settle().await;
    doubled.turns.add_permits(9);
    for other in others.into_iter().chain(slow) {
        assert!(matches!(other.await.unwrap(), Err(Error::Unavailable(_))));
    }
    assert_eq!(doubled.ran(), [vec![1], vec![2, 99], vec![3, 57]]);
}

#[tokio::test]
async fn who_waits_behind_a_slow_one_goes_after_a_while() {
    let doubled = Statement::new(Duration::from_millis(20));
    let slow = doubled.begin(1);
    settle().await;
    let others = [doubled.begin(2), doubled.begin(3)];
    settle().await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(doubled.ran(), [vec![1], vec![2, 3]]);
    doubled.turns.add_permits(2);
    slow.await.unwrap().unwrap();
    for other in others {
        other.await.unwrap().unwrap();
    }
    settle().await;
    assert!(doubled.gather.lock().is_empty());
}

#[tokio::test]
async fn what_is_long_goes_with_few() {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let others = [doubled.begin(2), doubled.begin(77), doubled.begin(77), doubled.begin(3)];
    settle().await;
    doubled.turns.add_permits(9);
    first.await.unwrap().unwrap();
    for other in others {
        other.await.unwrap().unwrap();
    }
    assert_eq!(doubled.ran(), [vec![1], vec![2], vec![77], vec![77], vec![3]]);
}

#[tokio::test]
async fn who_has_gone_is_not_tried_alone() {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let (gone, stays, bad) = (doubled.begin(2), doubled.begin(3), doubled.begin(13));
    settle().await;
    doubled.turns.add_permits(1);
    first.await.unwrap().unwrap();
    settle().await;
    gone.abort();
    settle().await;
    doubled.turns.add_permits(9);
    assert_eq!(stays.await.unwrap().unwrap(), 6);
    bad.await.unwrap().unwrap_err();
    assert_eq!(doubled.ran(), [vec![1], vec![2, 3, 13], vec![3], vec![13]]);
}

#[tokio::test]
async fn nothing_is_asked_for_who_has_gone() {
    let doubled = Statement::new(LONG);
    let first = doubled.begin(1);
    settle().await;
    let (gone, stays) = (doubled.begin(2), doubled.begin(3));
    settle().await;
    gone.abort();
    settle().await;
    doubled.turns.add_permits(2);
    first.await.unwrap().unwrap();
    assert_eq!(stays.await.unwrap().unwrap(), 6);
    assert_eq!(doubled.ran(), [vec![1], vec![3]]);
}

#[tokio::test]
async fn a_panic_is_an_error_of_those_who_asked_and_of_nobody_after() {
    let gather: Numbers = Arc::default();
    let panics = |_: Vec<u32>, _: Kept| async { panic!("on purpose") };
    assert!(matches!(gather.ask("double".into(), 1, panics).await, Err(Error::Internal(_))));
    let works = |numbers: Vec<u32>, _: Kept| async { Ok((numbers, None)) };
    assert_eq!(gather.ask("double".into(), 1, works).await.unwrap(), 1);
}
